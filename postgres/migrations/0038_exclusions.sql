-- Traffic that a workspace leaves out. A workspace without rules has no row.
CREATE TABLE exclusions (
  workspace_id integer PRIMARY KEY REFERENCES workspaces,
  addresses    text[] NOT NULL,
  countries    text[] NOT NULL,
  paths        text[] NOT NULL,
  -- Not empty: only these hosts count.
  hostnames    text[] NOT NULL
);
-- Ingest nodes have the rules with their tracking keys.
CREATE TRIGGER exclusions_changed AFTER INSERT OR UPDATE OR DELETE ON exclusions
  FOR EACH STATEMENT EXECUTE FUNCTION notify_keys_changed();
