-- Whether sessions are recorded, and how many of a hundred. Ingest nodes hear of a change by the trigger of workspaces.
ALTER TABLE workspaces
  ADD COLUMN replay_enabled boolean NOT NULL DEFAULT false,
  ADD COLUMN replay_share smallint NOT NULL DEFAULT 100 CHECK (replay_share BETWEEN 1 AND 100);
