-- Sign-in of owners: links that are used once, and the sessions of their browsers. Of tokens only SHA-256 is stored.
CREATE TABLE sign_in_links (
  hash         bytea PRIMARY KEY,
  owner_id     bigint NOT NULL REFERENCES owners,
  workspace_id integer NOT NULL REFERENCES workspaces,
  expires_at   timestamptz NOT NULL
);

CREATE TABLE browser_sessions (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash         bytea NOT NULL UNIQUE,
  owner_id     bigint NOT NULL REFERENCES owners,
  workspace_id integer NOT NULL REFERENCES workspaces,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL
);
