-- Funnels with a name, for everybody in the workspace.
CREATE TABLE saved_funnels (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  name         text NOT NULL,
  -- Steps and the time for them, as a query of the funnel has them.
  steps        text[] NOT NULL,
  within       text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, name)
);
