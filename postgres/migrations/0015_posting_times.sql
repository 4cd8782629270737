-- When a workspace publishes each week: a post that joins the queue takes the next free one.
CREATE TABLE posting_times (
  workspace_id integer NOT NULL REFERENCES workspaces,
  -- By ISO 8601: 1 is Monday.
  weekday      smallint NOT NULL CHECK (weekday BETWEEN 1 AND 7),
  -- Since midnight by the workspace's clocks: a new timezone keeps the time of day.
  minute       smallint NOT NULL CHECK (minute BETWEEN 0 AND 1439),
  PRIMARY KEY (workspace_id, weekday, minute)
);
