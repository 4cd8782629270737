-- Feeds of RSS, Atom or JSON whose new entries become posts.
CREATE TABLE feeds (
  id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id       integer NOT NULL REFERENCES workspaces,
  url                text NOT NULL,
  -- As the feed calls itself; empty before it was read.
  title              text NOT NULL DEFAULT '',
  -- The targets of its posts, in their order.
  social_account_ids bigint[] NOT NULL,
  mode               text NOT NULL CHECK (mode IN ('draft', 'queue')),
  template           text NOT NULL,
  shortens_links     boolean NOT NULL,
  posts_newest       boolean NOT NULL,
  status             text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'failed')),
  -- The account of the member who chose `mode`: its role decides whether posts are queued. It may be gone.
  set_up_by          bigint NOT NULL,
  -- Validators of the last answer, for the next look to ask by.
  etag               text,
  last_modified      text,
  next_look_at       timestamptz NOT NULL,
  leased_until       timestamptz,
  -- Null: what it has isn't known yet, so nothing is new.
  read_at            timestamptz,
  looked_at          timestamptz,
  last_error         text,
  failing_since      timestamptz,
  failures           integer NOT NULL DEFAULT 0,
  -- The result of the last look that found new entries.
  last_news          jsonb,
  created_at         timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, url)
);
CREATE INDEX feeds_due ON feeds (next_look_at) WHERE status = 'active';

-- Entries that made a post, or were passed over. A row is written in the transaction of its post.
CREATE TABLE feed_entries (
  feed_id bigint NOT NULL REFERENCES feeds,
  -- SHA-256 of the entry's id, else of its link or title.
  entry   bytea NOT NULL,
  -- When the feed last had it.
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (feed_id, entry)
);

-- The feed that made the post.
ALTER TABLE posts ADD COLUMN feed_id bigint REFERENCES feeds;
CREATE INDEX posts_feed ON posts (feed_id) WHERE feed_id IS NOT NULL;
