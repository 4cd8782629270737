-- The audit log of one kind of actor: without it a rare one is looked for among all rows of the workspace.
CREATE INDEX audit_events_actor_type ON audit_events (workspace_id, actor_type, id);
