-- A workspace that was made to look around in: null is one of the customer's own, whatever its name.
ALTER TABLE workspaces ADD COLUMN demo text CHECK (demo IN ('filling', 'filled'));
