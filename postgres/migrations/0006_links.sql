-- Short links. `ingest` keeps them in memory and on its disk, so that redirects go on while Postgres is away.

CREATE TABLE links (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id      integer NOT NULL REFERENCES workspaces,
  attribution_key   text NOT NULL UNIQUE,
  label             text NOT NULL,
  destination_url   text NOT NULL,
  -- The destination with the link's parameters.
  tracking_url      text NOT NULL,
  -- As text, since `jsonb` has its members in an order of its own.
  tracking_params   json NOT NULL,
  post_id           bigint REFERENCES posts,
  social_account_id bigint REFERENCES social_accounts,
  utm_source        text NOT NULL,
  utm_medium        text NOT NULL,
  utm_campaign      text NOT NULL,
  utm_content       text NOT NULL,
  created_at        timestamptz NOT NULL DEFAULT now(),
  updated_at        timestamptz NOT NULL DEFAULT now(),
  -- Lists leave archived links out. They redirect as before: what was posted or printed goes on.
  archived_at       timestamptz,
  -- From then on it leads to the other address, or nowhere. `ingest` judges the time at each redirect: nothing is written then.
  expires_at        timestamptz,
  expired_url       text,
  -- In order: the first that fits a visitor's device and country leads to its own `destination_url`.
  targets           jsonb NOT NULL DEFAULT '[]',
  tags              text[] NOT NULL DEFAULT '{}',
  -- argon2id. Null: the link asks for no password.
  password_hash     text,
  -- Title, description and image, which apps show in place of the destination's; in this order. Null: they are led there.
  preview           json,
  CHECK (expired_url IS NULL OR expires_at IS NOT NULL)
);
CREATE INDEX links_workspace ON links (workspace_id, id);
CREATE INDEX links_changed ON links (updated_at, id);
-- A post that is deleted leaves its links, which are looked up by it.
CREATE INDEX links_post ON links (post_id) WHERE post_id IS NOT NULL;

CREATE FUNCTION notify_links_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('links_changed', '');
  RETURN NULL;
END $$;
CREATE TRIGGER links_changed AFTER INSERT OR UPDATE OR DELETE ON links
  FOR EACH STATEMENT EXECUTE FUNCTION notify_links_changed();
-- The links of a workspace that is to be deleted lead nowhere from then on.
CREATE TRIGGER links_gone AFTER INSERT ON workspace_deletions
  FOR EACH STATEMENT EXECUTE FUNCTION notify_links_changed();
