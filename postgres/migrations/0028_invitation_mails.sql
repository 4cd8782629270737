-- Mails of invitations that were asked for within the last hour: they are counted by workspace, by who invites, and by address.
CREATE TABLE invitation_mails (
  workspace_id integer NOT NULL REFERENCES workspaces,
  -- NULL: the account is gone, and its mails count on.
  invited_by   bigint REFERENCES owners ON DELETE SET NULL,
  -- SHA-256 of the address, as the invitation may be withdrawn by now.
  address_hash bytea NOT NULL,
  asked_at     timestamptz NOT NULL
);
CREATE INDEX invitation_mails_account ON invitation_mails (invited_by);
CREATE INDEX invitation_mails_workspace ON invitation_mails (workspace_id);
