-- Publishing: accounts, media, posts and their targets.

CREATE TABLE social_accounts (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id      integer NOT NULL REFERENCES workspaces,
  platform          text NOT NULL,
  handle            text NOT NULL,
  display_name      text NOT NULL,
  status            text NOT NULL DEFAULT 'connected' CHECK (status IN ('connected', 'disconnected', 'expired')),
  external_id       text,
  connection_type   text NOT NULL DEFAULT 'simulated' CHECK (connection_type IN ('simulated', 'oauth', 'app_password')),
  health_status     text NOT NULL DEFAULT 'ok' CHECK (health_status IN ('ok', 'warning', 'error')),
  health_message    text NOT NULL DEFAULT '',
  provider_metadata jsonb NOT NULL DEFAULT '{}',
  -- The platform said that it is asked too often: until then nothing is published to the account.
  held_until        timestamptz,
  created_at        timestamptz NOT NULL DEFAULT now(),
  updated_at        timestamptz NOT NULL DEFAULT now(),
  -- To connect an account again is to renew it.
  UNIQUE (workspace_id, platform, handle)
);

-- By these posts are published: a platform's token, or an app password with its session. Encrypted.
CREATE TABLE social_account_credentials (
  social_account_id bigint PRIMARY KEY REFERENCES social_accounts,
  sealed            bytea NOT NULL,
  -- Raised by each change: whoever renews a session goes by the one that it read.
  version           integer NOT NULL DEFAULT 1,
  -- A process renews the session, and no other does before this moment: some refresh tokens work once.
  renewing_until    timestamptz,
  updated_at        timestamptz NOT NULL DEFAULT now()
);

-- The bytes lie in the media storage under the workspace and their SHA-256: equal files share them.
CREATE TABLE media (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id      integer NOT NULL REFERENCES workspaces,
  filename          text NOT NULL,
  original_filename text NOT NULL,
  content_type      text NOT NULL,
  size_bytes        bigint NOT NULL,
  alt_text          text NOT NULL DEFAULT '',
  sha256            bytea NOT NULL,
  -- Pixels, where they could be read.
  width             integer,
  height            integer,
  created_at        timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX media_workspace ON media (workspace_id, id);
CREATE INDEX media_bytes ON media (workspace_id, sha256);

CREATE TABLE posts (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  title        text NOT NULL,
  base_caption text NOT NULL,
  scheduled_at timestamptz,
  status       text NOT NULL DEFAULT 'draft'
    CHECK (status IN ('draft', 'scheduled', 'publishing', 'published', 'failed', 'archived')),
  tags         text[] NOT NULL DEFAULT '{}',
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now()
);
-- Lists leave archived posts out, or ask for one status.
CREATE INDEX posts_workspace ON posts (workspace_id, id) WHERE status <> 'archived';
CREATE INDEX posts_status ON posts (workspace_id, status, id);
CREATE INDEX posts_due ON posts (scheduled_at) WHERE status = 'scheduled';

CREATE TABLE post_media (
  post_id  bigint NOT NULL REFERENCES posts,
  place    smallint NOT NULL,
  media_id bigint NOT NULL REFERENCES media,
  PRIMARY KEY (post_id, place)
);
CREATE INDEX post_media_media ON post_media (media_id);

CREATE TABLE post_targets (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  post_id           bigint NOT NULL REFERENCES posts,
  -- In the order in which the accounts were named.
  place             smallint NOT NULL,
  social_account_id bigint NOT NULL REFERENCES social_accounts,
  caption_override  text,
  status            text NOT NULL DEFAULT 'draft'
    CHECK (status IN ('draft', 'scheduled', 'publishing', 'published', 'failed')),
  publish_result    jsonb NOT NULL DEFAULT '{}',
  -- Names this target to the platform: a repeat under it is the same publication.
  publish_key       uuid NOT NULL DEFAULT gen_random_uuid(),
  -- Attempts that failed since the post was due, but for those that only met the platform's limit.
  attempt_count     smallint NOT NULL DEFAULT 0,
  -- When a target that is `publishing` may be claimed: the next attempt, or the end of a claim.
  next_attempt_at   timestamptz,
  -- The process that holds the claim.
  claimed_by        uuid,
  -- When the platform was first asked to publish it. From then on it may be published, whatever we know of it.
  sent_at           timestamptz,
  UNIQUE (post_id, social_account_id)
);
CREATE INDEX post_targets_account ON post_targets (social_account_id);
CREATE INDEX post_targets_waiting ON post_targets (next_attempt_at) WHERE status = 'publishing';
