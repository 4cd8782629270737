-- Where a workspace wants to be told of changes, what was told, how endpoints have fared, and jobs that failed for good.

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
  deleted_at   timestamptz,
  -- The first failure since the last success, and the last one.
  failing_since timestamptz,
  failed_at    timestamptz,
  -- It asked with Retry-After to be left alone until then.
  held_until   timestamptz,
  -- One process sends to it at a time. Once it has ended, the time says when: who waits longest is next.
  leased_by    text,
  leased_until timestamptz
);
CREATE INDEX webhook_endpoints_workspace ON webhook_endpoints (workspace_id, id) WHERE deleted_at IS NULL;

CREATE TABLE webhook_deliveries (
  id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id        integer NOT NULL REFERENCES workspaces,
  -- No reference: to check it when an endpoint is deleted would take an index. Endpoints are deleted after their deliveries,
  -- with their workspace.
  webhook_endpoint_id bigint NOT NULL,
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
  -- How many of the waits between attempts are used up; begins anew when somebody asks for another delivery.
  retry_step          smallint NOT NULL DEFAULT 0,
  -- Asked for by somebody: sent to a disabled endpoint as well.
  by_hand             boolean NOT NULL DEFAULT false,
  -- Erasures find an event's deliveries by it: a delivery is written twice at least, and each time into every index.
  UNIQUE (event_id, webhook_endpoint_id)
);
CREATE INDEX webhook_deliveries_workspace ON webhook_deliveries (workspace_id, id);
-- A pending one without a time is set aside.
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_endpoint_id, next_attempt_at, id)
  WHERE status = 'pending';
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (created_at) WHERE status <> 'pending';

-- Jobs that would only fail again. The queue doesn't hold them: it may lose everything.
CREATE TABLE set_aside_jobs (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job          text NOT NULL,
  -- Its object; empty where the job is about everything.
  subject      text NOT NULL DEFAULT '',
  reason       text NOT NULL,
  set_aside_at timestamptz NOT NULL DEFAULT now(),
  -- An operator wants it to be tried again: whoever runs such jobs takes the row away and does so.
  retry_asked_at timestamptz,
  UNIQUE (job, subject)
);
