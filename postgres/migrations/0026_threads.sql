-- A thread: the texts that follow a post's caption, each as a reply to the one before.
ALTER TABLE posts ADD COLUMN thread text[] NOT NULL DEFAULT '{}';
-- The parts of a target's thread that are published, in their order: external_id, url and published_at of each, and cid
-- where a reply names it. From the first one on, `sent_at` and `sent_reference` are those of the part that comes next.
ALTER TABLE post_targets ADD COLUMN sent_parts jsonb NOT NULL DEFAULT '[]';
