-- Who changed a post that somebody else edits meanwhile. Without this it is looked for among all rows of the workspace.
CREATE INDEX audit_events_posts ON audit_events (workspace_id, resource_id, id) WHERE resource_type = 'post';
