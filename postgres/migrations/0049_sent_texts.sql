-- The title and text that the platform was asked to publish last. Where a platform knows no key, the publication is looked for by
-- them: the post's own may have been changed since. Null: from before these columns.
ALTER TABLE post_targets ADD COLUMN sent_title text, ADD COLUMN sent_text text;
