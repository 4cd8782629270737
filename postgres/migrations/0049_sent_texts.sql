-- The text that the platform was asked to publish last. Where a platform knows no key, the publication is looked for by it:
-- the post's own may have been changed since. Null: from before this column.
ALTER TABLE post_targets ADD COLUMN sent_text text;
