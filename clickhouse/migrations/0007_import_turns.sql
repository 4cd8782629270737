-- Imports of a workspace, one row each, in the order in which they took their turn. An insert of an import stores nothing once
-- another has a later turn, however late it arrives. Turns are first numbers of segments, which never come back.
CREATE TABLE IF NOT EXISTS import_turns
(
    workspace_id UInt32,
    turn UInt64
)
ENGINE = ReplacingMergeTree(turn)
ORDER BY workspace_id
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1;
