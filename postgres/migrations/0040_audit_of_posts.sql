-- Who changed a post last.
CREATE INDEX audit_events_post ON audit_events (workspace_id, resource_id, id) WHERE resource_type = 'post';
