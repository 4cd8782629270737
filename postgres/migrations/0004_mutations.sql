-- Beside its change, every mutation of the customer API writes an audit row, an outbox row and a record, in the same
-- transaction. From the record a retry with the same Idempotency-Key is answered.

CREATE TABLE idempotency_records (
  workspace_id integer NOT NULL REFERENCES workspaces,
  key          text NOT NULL,
  -- SHA-256 of method, path and body.
  fingerprint  bytea NOT NULL,
  status       smallint NOT NULL,
  -- The answer's body, encrypted: one of them holds a webhook's secret.
  body         bytea NOT NULL,
  expires_at   timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_records_expiry ON idempotency_records (expires_at);

-- Told to webhooks by the pipeline.
CREATE TABLE outbox (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  -- `evt_…`: what a receiver tells a repeat by.
  event_id     text NOT NULL UNIQUE,
  type         text NOT NULL,
  -- The resource as the API showed it.
  object       jsonb NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  -- When its deliveries were written.
  fanned_out_at timestamptz
);
CREATE INDEX outbox_waiting ON outbox (id) WHERE fanned_out_at IS NULL;
CREATE INDEX outbox_told ON outbox (created_at) WHERE fanned_out_at IS NOT NULL;
-- The end of a workspace's deletion looks for rows that refer to it.
CREATE INDEX outbox_workspace ON outbox (workspace_id);
-- Erasures look for what webhooks are to be told of a person.
CREATE INDEX outbox_emails ON outbox (workspace_id, (object ->> 'email')) WHERE type LIKE 'contact.%';
CREATE INDEX outbox_conversions ON outbox (workspace_id, (object ->> 'id')) WHERE type = 'conversion.recorded';

-- Rows and heads refer to no workspace: its audit log stays when it goes, for nobody can take a row out of its chain.
CREATE TABLE audit_events (
  id            bigint PRIMARY KEY,
  workspace_id  integer NOT NULL,
  action        text NOT NULL,
  actor_type    text NOT NULL CHECK (actor_type IN ('api_key', 'user', 'system')),
  actor_id      bigint,
  actor_name    text NOT NULL,
  interface     text NOT NULL CHECK (interface IN ('rest', 'mcp', 'console', 'cli')),
  resource_type text NOT NULL,
  resource_id   bigint,
  request_id    text,
  ip_hash       text,
  metadata      jsonb NOT NULL,
  created_at    timestamptz NOT NULL,
  -- SHA-256 in hex. The first row of a workspace has 64 zeros before it.
  previous_hash text NOT NULL,
  hash          text NOT NULL
);
CREATE INDEX audit_events_workspace ON audit_events (workspace_id, id);
-- The audit log of one action, or of one actor: without these a rare one is looked for among all rows of the workspace.
CREATE INDEX audit_events_action ON audit_events (workspace_id, action, id);
CREATE INDEX audit_events_actor ON audit_events (workspace_id, actor_id, id) WHERE actor_id IS NOT NULL;
CREATE SEQUENCE audit_event_ids AS bigint;

-- The last row of each workspace's chain. Its lock gives the rows their order.
CREATE TABLE audit_heads (
  workspace_id integer PRIMARY KEY,
  last_id      bigint NOT NULL,
  hash         text NOT NULL
);

-- The hash of a row: over all that it says and the hash before it. jsonb has one text for equal values.
CREATE FUNCTION audit_hash(event audit_events) RETURNS text IMMUTABLE LANGUAGE sql AS $$
  SELECT encode(sha256(convert_to(jsonb_build_array(
    event.previous_hash, event.id, event.workspace_id, event.action, event.actor_type, event.actor_id, event.actor_name,
    event.interface, event.resource_type, event.resource_id, event.request_id, event.ip_hash, event.metadata,
    extract(epoch FROM event.created_at)
  )::text, 'UTF8')), 'hex')
$$;

-- Appends to the workspace's chain. The last statement of a transaction: others of the workspace wait for its end.
CREATE FUNCTION append_audit_event(
  workspace integer, action text, actor_type text, actor_id bigint, actor_name text, interface text,
  resource_type text, resource_id bigint, request_id text, ip_hash text, metadata jsonb
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  head audit_heads;
  event audit_events;
BEGIN
  INSERT INTO audit_heads VALUES (workspace, 0, repeat('0', 64)) ON CONFLICT DO NOTHING;
  SELECT * INTO head FROM audit_heads h WHERE h.workspace_id = workspace FOR UPDATE;
  event := ROW(
    nextval('audit_event_ids'), workspace, action, actor_type, actor_id, actor_name, interface, resource_type, resource_id,
    request_id, ip_hash, metadata, date_trunc('milliseconds', clock_timestamp()), head.hash, ''
  );
  event.hash := audit_hash(event);
  INSERT INTO audit_events SELECT event.*;
  UPDATE audit_heads h SET last_id = event.id, hash = event.hash WHERE h.workspace_id = workspace;
  RETURN event.id;
END $$;

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit events can not be changed or deleted' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_events_immutable BEFORE UPDATE OR DELETE ON audit_events
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_events_kept BEFORE TRUNCATE ON audit_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- Without its head a chain of audit events begins anew: a head is updated by the next event, and never deleted.
CREATE TRIGGER audit_heads_not_deleted BEFORE DELETE ON audit_heads
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_heads_not_truncated BEFORE TRUNCATE ON audit_heads
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
