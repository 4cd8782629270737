-- Apps of the installation at platforms, by which members sign in there to connect social accounts.
CREATE TABLE platform_apps (
  platform    text PRIMARY KEY,
  client_id   text NOT NULL,
  -- The app's secret, encrypted.
  sealed      bytea NOT NULL,
  -- Empty: those that posts need.
  scopes      text[] NOT NULL DEFAULT '{}',
  updated_at  timestamptz NOT NULL DEFAULT now()
);

-- Sign-ins at platforms that a browser began and that aren't done.
CREATE TABLE account_sign_ins (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- SHA-256 of the state that the platform sends back. Null once it came back: it is taken once.
  state_hash    bytea UNIQUE,
  workspace_id  integer NOT NULL REFERENCES workspaces,
  session_id    bigint NOT NULL REFERENCES browser_sessions ON DELETE CASCADE,
  -- All that finishes it, encrypted: the app, the verifier, and later the token with its pages or boards.
  sealed        bytea NOT NULL,
  expires_at    timestamptz NOT NULL
);
CREATE INDEX account_sign_ins_session ON account_sign_ins (session_id);
CREATE INDEX account_sign_ins_workspace ON account_sign_ins (workspace_id);
