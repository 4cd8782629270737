-- Who may do what: owners and their plans, workspaces, members, keys, and the sign-in of browsers.

CREATE TABLE owners (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  email       text NOT NULL UNIQUE,
  name        text NOT NULL DEFAULT '',
  plan_key    text CHECK (plan_key IN ('starter', 'growth', 'scale')),
  -- When the plan was last lowered or lapsed: what that hides is deleted only after a grace.
  plan_changed_at timestamptz NOT NULL DEFAULT now(),
  created_at  timestamptz NOT NULL DEFAULT now(),
  -- An owner may sign in by a password besides links: its argon2id hash, with its parameters and salt. NULL: by links alone.
  password_hash text
);

CREATE TABLE workspaces (
  id             integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner_id       bigint NOT NULL REFERENCES owners,
  name           text NOT NULL,
  slug           text NOT NULL UNIQUE,
  timezone       text NOT NULL DEFAULT 'UTC',
  currency       text NOT NULL DEFAULT 'USD',
  -- Shorter than the plan's, when the customer wishes so.
  retention_days integer CHECK (retention_days BETWEEN 1 AND 730),
  suspended_at   timestamptz,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  -- How far retention has deleted events: a plan that is raised later doesn't bring them back. Null: nothing yet.
  deleted_before timestamptz,
  -- Made to look around in. Null: one of the customer's own, whatever its name.
  demo           text CHECK (demo IN ('filling', 'filled')),
  -- Whether sessions are recorded, and how many of a hundred. Ingest nodes hear of a change by the trigger of workspaces.
  replay_enabled boolean NOT NULL DEFAULT false,
  replay_share   smallint NOT NULL DEFAULT 100 CHECK (replay_share BETWEEN 1 AND 100),
  -- Sessions of members without a second factor are refused.
  second_factor_required boolean NOT NULL DEFAULT false
);

-- Workspaces that are to be deleted, and those that were. The request ends every access; the rows go after it. This row stays,
-- so that what arrives late of the workspace is told from what an older copy of the database doesn't know.
CREATE TABLE workspace_deletions (
  workspace_id integer PRIMARY KEY,
  requested_at timestamptz NOT NULL DEFAULT now(),
  -- When the last row was gone.
  done_at      timestamptz
);

-- Every account has a row in `owners`, also one that is a member of others' workspaces alone. `role` has no default: who makes a
-- member says what the member may do.
CREATE TABLE members (
  workspace_id integer NOT NULL REFERENCES workspaces,
  owner_id     bigint NOT NULL REFERENCES owners,
  role         text NOT NULL CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
  added_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, owner_id)
);
CREATE UNIQUE INDEX members_owner ON members (workspace_id) WHERE role = 'owner';
CREATE INDEX members_account ON members (owner_id);

-- Open invitations: only the SHA-256 of a link's token. A row goes when its link was used, withdrawn, or its inviter may not
-- invite any more.
CREATE TABLE invitations (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  hash         bytea NOT NULL UNIQUE,
  -- In lower case.
  email        text NOT NULL,
  role         text NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  invited_by   bigint NOT NULL REFERENCES owners,
  created_at   timestamptz NOT NULL,
  expires_at   timestamptz NOT NULL,
  UNIQUE (workspace_id, email)
);

-- Secret keys: only their SHA-256 and a prefix to recognise them by.
CREATE TABLE api_keys (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  owner_id     bigint NOT NULL REFERENCES owners,
  name         text NOT NULL,
  prefix       text NOT NULL,
  hash         bytea NOT NULL UNIQUE,
  scopes       text[] NOT NULL,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_keys_workspace ON api_keys (workspace_id);

-- Public keys, in the open by design. A rotated key goes on until `retires_at`.
CREATE TABLE tracking_keys (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  key          text NOT NULL UNIQUE,
  retires_at   timestamptz,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX tracking_keys_workspace ON tracking_keys (workspace_id);

-- Ingest nodes listen: a key or workspace that changes is known everywhere at once.
CREATE FUNCTION notify_keys_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('keys_changed', '');
  RETURN NULL;
END $$;
CREATE TRIGGER tracking_keys_changed AFTER INSERT OR UPDATE OR DELETE ON tracking_keys
  FOR EACH STATEMENT EXECUTE FUNCTION notify_keys_changed();
CREATE TRIGGER workspaces_changed AFTER INSERT OR UPDATE OR DELETE ON workspaces
  FOR EACH STATEMENT EXECUTE FUNCTION notify_keys_changed();
-- Not on last_used_at: it changes with use.
CREATE TRIGGER api_keys_changed AFTER UPDATE OF scopes, expires_at, revoked_at OR DELETE ON api_keys
  FOR EACH STATEMENT EXECUTE FUNCTION notify_keys_changed();

-- Sign-in of owners: links that are used once, and the sessions of their browsers. Only the SHA-256 of a token is stored.
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
