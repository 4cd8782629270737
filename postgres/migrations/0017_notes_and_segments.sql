-- Notes say what happened on a day: a release, a newsletter. The overview's chart shows them.
CREATE TABLE notes (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  -- By the workspace's clocks: a new timezone keeps day and time.
  day          date NOT NULL,
  -- Null: the whole day.
  minute       time,
  text         text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON notes (workspace_id, day);

-- Filters with a name, for everybody in the workspace.
CREATE TABLE segments (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  name         text NOT NULL,
  -- Lists of values by the filter's name, as a query of the overview has them.
  filters      jsonb NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, name)
);
