-- Who gets a workspace's figures by e-mail, and how far the last report is: one row holds both, so nothing gathers.
CREATE TABLE report_recipients (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  -- In lower case. It stands nowhere else, not in the audit log either.
  email        text NOT NULL,
  every        text NOT NULL CHECK (every IN ('weekly', 'monthly')),
  -- Gets traffic alerts too.
  alerts       boolean NOT NULL DEFAULT false,
  -- Links to unsubscribe name it beside the id: an id that a restored sequence gives again is another recipient.
  created_at   timestamptz NOT NULL DEFAULT now(),
  -- The first day of the last period that was claimed, and its state. Before the first claim both are null.
  period       date,
  state        text CHECK (state IN ('sending', 'waiting', 'sent', 'failed')),
  attempts     smallint NOT NULL DEFAULT 0,
  -- Attempts whose end nobody knows: the mail may be there.
  uncertain    smallint NOT NULL DEFAULT 0,
  -- The claim may be taken over, or the next attempt is due.
  due_at       timestamptz,
  sent_at      timestamptz,
  -- The owner's last wish for a report at once, its state, and why it failed, without an address.
  asked_at      timestamptz,
  asked_state   text CHECK (asked_state IN ('waiting', 'sending', 'sent', 'failed')),
  asked_failure text,
  UNIQUE (workspace_id, email, every)
);
-- Read every few seconds, and nearly always empty.
CREATE INDEX report_recipients_asked ON report_recipients (asked_at) WHERE asked_state = 'waiting';
