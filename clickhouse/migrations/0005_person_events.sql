-- The events of known people, in the order in which a person's are read: `events` with few columns and by whom they are.
-- An event stands here by its visitor once the visitor's browser is bound to a contact, and by the hash of its e-mail.
-- The pipeline copies them after each fold (pipeline/people/refresh.ts); a copy that is made again replaces the first.
CREATE TABLE IF NOT EXISTS person_events
(
    workspace_id UInt32 CODEC(ZSTD(1)),
    known_by Enum8('visitor' = 1, 'email' = 2) CODEC(ZSTD(1)),
    -- The visitor's, or the e-mail's.
    hash UInt64 CODEC(ZSTD(1)),
    occurred_at DateTime64(3, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    id UInt64 CODEC(T64('bit'), ZSTD(1)),
    visitor UInt64 CODEC(ZSTD(1)),
    session UInt64 CODEC(ZSTD(1)),
    email_hash UInt64 CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    medium LowCardinality(String) CODEC(ZSTD(1)),
    campaign LowCardinality(String) CODEC(ZSTD(1)),
    content LowCardinality(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (workspace_id, known_by, hash, occurred_at, id)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 1024;
