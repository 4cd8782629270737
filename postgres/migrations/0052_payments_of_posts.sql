-- The results of a post read its payments. Without this they are looked for among all of the workspace's.
CREATE INDEX revenue_payments_posts ON revenue_payments (workspace_id, post_id) WHERE post_id IS NOT NULL;
