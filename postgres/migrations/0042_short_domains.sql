-- Hosts of workspaces under which their short links stand. Only a verified one serves.

CREATE TABLE short_domains (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id  integer NOT NULL REFERENCES workspaces,
  -- In lower case, in ASCII.
  host          text NOT NULL,
  -- Stands in a TXT record of the host's zone, which proves that the workspace may use it.
  token         text NOT NULL,
  verified_at   timestamptz,
  checked_at    timestamptz,
  -- Why the last check failed; null where it found the record.
  failure       text,
  -- Where `/` and unknown keys lead; null: a 404 page.
  root_url      text,
  not_found_url text,
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  -- Archived links refer to it, so its row stays. Adding the host again brings it back.
  removed_at    timestamptz,
  UNIQUE (workspace_id, host),
  CHECK (removed_at IS NULL OR verified_at IS NULL)
);
-- Anybody may claim a host, and one workspace can prove it.
CREATE UNIQUE INDEX short_domains_verified ON short_domains (host) WHERE verified_at IS NOT NULL;

CREATE FUNCTION notify_short_domains_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('short_domains_changed', '');
  RETURN NULL;
END $$;
CREATE TRIGGER short_domains_changed AFTER INSERT OR UPDATE OR DELETE ON short_domains
  FOR EACH STATEMENT EXECUTE FUNCTION notify_short_domains_changed();

-- Null: the link stands under the installation's root.
ALTER TABLE links ADD domain_id bigint REFERENCES short_domains;
ALTER TABLE links DROP CONSTRAINT links_attribution_key_key,
  ADD UNIQUE NULLS NOT DISTINCT (attribution_key, domain_id);
CREATE INDEX links_domain ON links (domain_id) WHERE domain_id IS NOT NULL;
