-- Recordings of sessions in chunks, as ingest wrote them to its log: some seconds of one page load each. A chunk that was sent
-- twice is replaced by its repeat. Lists read the narrow columns; `events` (base64 of gzip) is read of one session alone.
CREATE TABLE IF NOT EXISTS replay_chunks
(
    id UInt64 CODEC(Delta(8), ZSTD(1)),
    workspace_id UInt32 CODEC(ZSTD(1)),
    occurred_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    received_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    visitor UInt64 CODEC(ZSTD(1)),
    session UInt64 CODEC(ZSTD(1)),
    sequence UInt32 CODEC(ZSTD(1)),
    duration_ms UInt32 CODEC(ZSTD(1)),
    event_count UInt32 CODEC(ZSTD(1)),
    clicks UInt32 CODEC(ZSTD(1)),
    bytes UInt32 CODEC(ZSTD(1)),
    json_bytes UInt32 CODEC(ZSTD(1)),
    device Enum8('unknown' = 0, 'desktop' = 1, 'mobile' = 2, 'tablet' = 3, 'other' = 4) CODEC(ZSTD(1)),
    country FixedString(2) CODEC(ZSTD(1)),
    page_id String CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(1)),
    anonymous_id String CODEC(ZSTD(1)),
    path String CODEC(ZSTD(1)),
    url String CODEC(ZSTD(1)),
    browser LowCardinality(String) CODEC(ZSTD(1)),
    os LowCardinality(String) CODEC(ZSTD(1)),
    events String CODEC(ZSTD(1)),
    -- Ids grow with time: looking some up reads the granules of their time only.
    INDEX ids id TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(occurred_at, 'UTC')
ORDER BY (workspace_id, session, page_id, sequence)
SETTINGS
    index_granularity = 256,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 480,
    non_replicated_deduplication_window = 10000;
