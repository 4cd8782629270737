-- Channels of chats that get a workspace's reports and alerts, each by the address of an incoming webhook.
CREATE TABLE chat_channels (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  kind         text NOT NULL CHECK (kind IN ('slack', 'discord', 'teams', 'google_chat')),
  name         text NOT NULL,
  -- Whoever knows the address can post. So it is encrypted, as credentials of accounts are.
  address      bytea NOT NULL,
  -- The parts of it that are shown.
  host         text NOT NULL,
  ending       text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  -- The chat doesn't know the channel any more, and why, without the address. Nothing is sent until it is turned on again.
  disabled_at  timestamptz,
  failure      text
);
CREATE INDEX chat_channels_workspace ON chat_channels (workspace_id);

-- A channel is a recipient like an address, with a row for each thing that it gets. The row without `every` is for alerts.
ALTER TABLE report_recipients
  ALTER COLUMN email DROP NOT NULL,
  ALTER COLUMN every DROP NOT NULL,
  ADD COLUMN channel_id bigint REFERENCES chat_channels ON DELETE CASCADE,
  ADD CHECK ((email IS NULL) <> (channel_id IS NULL)),
  ADD CHECK (every IS NOT NULL OR (channel_id IS NOT NULL AND alerts));
CREATE UNIQUE INDEX report_recipients_channel ON report_recipients (channel_id, coalesce(every, 'alerts'))
  WHERE channel_id IS NOT NULL;
