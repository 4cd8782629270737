-- The company profile of a workspace: what was asked for, and what the pipeline made of it last.
CREATE TABLE company_profiles (
  workspace_id integer PRIMARY KEY REFERENCES workspaces,
  source_urls  text[] NOT NULL DEFAULT '{}',
  status       text NOT NULL CHECK (status IN ('generating', 'ready', 'failed')),
  -- Fields of the resource that are generated; null before the first time.
  generated    jsonb,
  error        text,
  generated_at timestamptz,
  -- So often a profile was generated.
  version      integer NOT NULL DEFAULT 0,
  -- Grows with each request: what was generated for an older one is not kept.
  request      integer NOT NULL DEFAULT 1,
  attempts     integer NOT NULL DEFAULT 0,
  -- Until then a pipeline has it to itself.
  claimed_until timestamptz,
  -- Profiles are generated in the order in which they were asked for: asking again goes to the back.
  requested_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX company_profiles_generating ON company_profiles (requested_at) WHERE status = 'generating';

CREATE TABLE company_profile_media (
  workspace_id integer NOT NULL REFERENCES workspaces,
  media_id     bigint NOT NULL REFERENCES media ON DELETE CASCADE,
  role         text NOT NULL,
  PRIMARY KEY (workspace_id, media_id)
);
