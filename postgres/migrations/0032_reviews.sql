-- A draft that waits for approval, or was sent back: status, by, at, changed_at and note. Null of any other post.
ALTER TABLE posts ADD COLUMN review jsonb;
CREATE INDEX posts_in_review ON posts (workspace_id, id DESC) WHERE review IS NOT NULL;
-- Contributors write drafts, and can't schedule them.
ALTER TABLE members DROP CONSTRAINT members_role_check,
  ADD CONSTRAINT members_role_check CHECK (role IN ('owner', 'admin', 'editor', 'contributor', 'viewer'));
ALTER TABLE invitations DROP CONSTRAINT invitations_role_check,
  ADD CONSTRAINT invitations_role_check CHECK (role IN ('admin', 'editor', 'contributor', 'viewer'));
