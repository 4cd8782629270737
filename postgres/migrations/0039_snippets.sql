-- Texts that posts are written with, such as groups of hashtags, for everybody in the workspace.
CREATE TABLE snippets (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  name         text NOT NULL,
  text         text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, name)
);
