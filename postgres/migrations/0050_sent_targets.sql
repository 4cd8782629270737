-- Targets that were taken off a post after their platform was asked to publish them, by account: publish_key, sent_at,
-- sent_reference, sent_title and sent_text. They may be published, whatever we know of it.
ALTER TABLE posts ADD COLUMN sent_targets jsonb NOT NULL DEFAULT '{}';
