-- Properties of Google Search Console whose search terms are pulled. Their figures are in ClickHouse (`search_days`).
CREATE TABLE search_sites (
  id            integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id  integer NOT NULL REFERENCES workspaces,
  -- `sc-domain:example.com`, or the beginning of its URLs.
  site          text NOT NULL,
  -- The service account's address, which people add to the property.
  account       text NOT NULL,
  -- The service account's key, encrypted.
  sealed        bytea NOT NULL,
  status        text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'needs_reconnecting')),
  next_pull_at  timestamptz NOT NULL,
  leased_until  timestamptz,
  -- When all days were last as Search Console has them. Null: the first pull goes on.
  pulled_at     timestamptz,
  -- The last day that has figures, as Search Console counts days.
  data_through  date,
  -- The first day that a complete pull asked for: earlier days are missing. Null: the first pull goes on.
  data_from     date,
  last_error    text,
  -- Pulls in a row that failed.
  failures      integer NOT NULL DEFAULT 0,
  created_at    timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, site)
);
CREATE INDEX search_sites_due ON search_sites (next_pull_at) WHERE status = 'active';
