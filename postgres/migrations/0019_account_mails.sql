-- Mails about accounts that are to be sent. A row goes once its mail was sent or given up, and after an hour in any case.
CREATE TABLE account_mails (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- In lower case.
  email         text NOT NULL,
  -- NULL: for whoever has the e-mail and forgot the password. Whether anybody does, only the sender looks up.
  invitation_id bigint UNIQUE REFERENCES invitations ON DELETE CASCADE,
  -- The token of its link, encrypted. Everywhere else there is only a hash of it.
  sealed        bytea NOT NULL,
  created_at    timestamptz NOT NULL,
  -- The next attempt is due, or the claim may be taken over.
  due_at        timestamptz NOT NULL,
  attempts      smallint NOT NULL DEFAULT 0,
  -- Attempts whose end nobody knows: the mail may be there.
  uncertain     smallint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX account_mails_forgotten ON account_mails (email) WHERE invitation_id IS NULL;

-- How far the mail of an invitation is; NULL: none was to be sent.
ALTER TABLE invitations ADD COLUMN mail text CHECK (mail IN ('waiting', 'sent', 'failed'));

-- Links that set a new password: only the SHA-256 of a link's token. A row stays for its hour also when its link has ended, as
-- the mails of an hour are counted.
CREATE TABLE password_resets (
  hash       bytea PRIMARY KEY,
  owner_id   bigint NOT NULL REFERENCES owners ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX password_resets_account ON password_resets (owner_id);
