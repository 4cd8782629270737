-- The audit log of one action, or of one actor: without these a rare one is looked for among all rows of the workspace.
CREATE INDEX audit_events_action ON audit_events (workspace_id, action, id);
CREATE INDEX audit_events_actor ON audit_events (workspace_id, actor_id, id) WHERE actor_id IS NOT NULL;
