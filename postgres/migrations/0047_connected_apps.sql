-- Apps that members connected by OAuth (decision 0052). A connection is a key of its member without a secret of its own:
-- roles, removals and deletions end or cut it as they do with keys.
ALTER TABLE api_keys ALTER COLUMN hash DROP NOT NULL;

CREATE TABLE connected_apps (
  api_key_id        bigint PRIMARY KEY REFERENCES api_keys ON DELETE CASCADE,
  client_id         text NOT NULL,
  -- The code and the request that it answers. A code is exchanged once; the second exchange ends the connection.
  redirect_uri      text NOT NULL,
  code_challenge    text NOT NULL,
  code_hash         bytea NOT NULL UNIQUE,
  code_expires_at   timestamptz NOT NULL,
  exchanged_at      timestamptz,
  -- A refresh token has a part that stays, the family, and one that each use replaces. A former one is known by the family.
  family_hash       bytea UNIQUE,
  turn_hash         bytea,
  -- By it the turn before gives the same tokens again, for a while.
  turn_salt         bytea,
  access_hash       bytea UNIQUE,
  access_expires_at timestamptz,
  -- A request is consented to once.
  UNIQUE (client_id, code_challenge)
);

-- Apps that registered themselves. They are public: none has a secret.
CREATE TABLE oauth_clients (
  id            text PRIMARY KEY,
  name          text NOT NULL,
  redirect_uris text[] NOT NULL,
  created_at    timestamptz NOT NULL,
  consented_at  timestamptz,
  expires_at    timestamptz NOT NULL
);
CREATE INDEX oauth_clients_expires ON oauth_clients (expires_at);
