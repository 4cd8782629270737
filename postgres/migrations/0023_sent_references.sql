-- The platform's name for the publication that was begun last, where it has one before it publishes: by it a later attempt
-- asks what became of it.
ALTER TABLE post_targets ADD COLUMN sent_reference text;
