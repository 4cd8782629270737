-- Nothing is counted here: figures come from events, those from before the goal was made too.
CREATE TABLE goals (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  name         text NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('path', 'event')),
  -- A path or a name of events, as filters take it.
  value        text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, name),
  UNIQUE (workspace_id, kind, value)
);
