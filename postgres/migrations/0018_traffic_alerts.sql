-- A workspace wants to be told of these at once. Each row also holds the last alert.
CREATE TABLE traffic_alerts (
  workspace_id integer NOT NULL REFERENCES workspaces,
  kind         text NOT NULL CHECK (kind IN ('spike', 'drop')),
  -- Live visitors of a spike, hours of a drop. Null: off, and the row stays, as the last alert counts for the next.
  threshold    integer,
  -- No look before this. Whoever tells moves it, so one process alone does.
  due_at       timestamptz NOT NULL,
  told_at      timestamptz,
  -- As webhooks were told: mails are written from it.
  told         jsonb,
  PRIMARY KEY (workspace_id, kind)
);
CREATE INDEX traffic_alerts_due ON traffic_alerts (kind, workspace_id) WHERE threshold IS NOT NULL;

-- Mails of alerts that aren't sent yet.
CREATE TABLE alert_mails (
  recipient_id bigint NOT NULL REFERENCES report_recipients ON DELETE CASCADE,
  kind         text NOT NULL,
  -- The next attempt is due, or the claim may be taken over.
  due_at       timestamptz NOT NULL,
  is_sending   boolean NOT NULL DEFAULT false,
  attempts     smallint NOT NULL DEFAULT 0,
  -- Attempts whose end nobody knows: the mail may be there.
  uncertain    smallint NOT NULL DEFAULT 0,
  PRIMARY KEY (recipient_id, kind)
);
