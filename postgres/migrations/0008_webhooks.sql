-- Where a workspace wants to be told of changes, and what was told.

CREATE TABLE webhook_endpoints (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  url          text NOT NULL,
  -- Names of events; all that there are where none is named.
  events       text[] NOT NULL,
  description  text NOT NULL DEFAULT '',
  status       text NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'disabled')),
  -- Encrypted.
  secret       bytea NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  -- Its deliveries stay.
  deleted_at   timestamptz
);
CREATE INDEX webhook_endpoints_workspace ON webhook_endpoints (workspace_id, id) WHERE deleted_at IS NULL;

CREATE TABLE webhook_deliveries (
  id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id        integer NOT NULL REFERENCES workspaces,
  webhook_endpoint_id bigint NOT NULL REFERENCES webhook_endpoints,
  event_id            text NOT NULL,
  event_type          text NOT NULL,
  status              text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempt_count       integer NOT NULL DEFAULT 0,
  response_status     integer,
  response_body       text,
  error               text,
  duration_ms         integer,
  next_attempt_at     timestamptz,
  delivered_at        timestamptz,
  created_at          timestamptz NOT NULL DEFAULT now(),
  UNIQUE (webhook_endpoint_id, event_id)
);
CREATE INDEX webhook_deliveries_workspace ON webhook_deliveries (workspace_id, id);
