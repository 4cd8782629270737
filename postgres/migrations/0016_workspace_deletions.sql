-- Workspaces that are to be deleted, and those that were. The request ends every access; the rows go after it. This row stays,
-- so that what arrives late of the workspace is told from what an older copy of the database doesn't know.
CREATE TABLE workspace_deletions (
  workspace_id integer PRIMARY KEY,
  requested_at timestamptz NOT NULL DEFAULT now(),
  -- When the last row was gone.
  done_at      timestamptz
);

-- The audit log of a workspace stays when the workspace goes: nobody can take a row out of its chain.
ALTER TABLE audit_events DROP CONSTRAINT audit_events_workspace_id_fkey;
ALTER TABLE audit_heads DROP CONSTRAINT audit_heads_workspace_id_fkey;
