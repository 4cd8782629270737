-- How far retention has deleted events: a plan that is raised later doesn't bring them back. Null: nothing yet.
ALTER TABLE workspaces ADD COLUMN deleted_before timestamptz;
