-- Workspaces take turns at these queues: one that identifies very many people holds up no other's.
CREATE INDEX inbox_turns ON inbox (workspace_id, event_id) WHERE NOT is_merged;
CREATE INDEX people_work_turns ON people_work (workspace_id, id);
