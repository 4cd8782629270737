-- How far clicks on short links are told to webhooks, of workspaces that have an endpoint for `link.clicked` (decision 0048).
CREATE TABLE told_clicks (
  workspace_id  integer PRIMARY KEY REFERENCES workspaces,
  -- Earlier clicks are told to nobody, whenever they arrive.
  since         timestamptz NOT NULL,
  -- When clicks are read next. A process that reads them has moved it on.
  due_at        timestamptz NOT NULL,
  -- By lease of segment numbers and UTC day: the id up to which clicks are told.
  marks         jsonb NOT NULL DEFAULT '[]'
);
CREATE INDEX told_clicks_due ON told_clicks (due_at);
-- Endpoints of before this event are told of clicks from now on. They are those for all events.
INSERT INTO told_clicks (workspace_id, since, due_at)
SELECT DISTINCT workspace_id, now(), now() FROM webhook_endpoints
WHERE status = 'enabled' AND deleted_at IS NULL AND events = '{}';
