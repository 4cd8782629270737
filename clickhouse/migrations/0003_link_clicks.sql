-- Clicks on short links. Apart from `events`: they are no visitors, and in none of the figures that are made of events.
-- How often a visitor counts is said where clicks are counted, not here: each request is a row.
CREATE TABLE IF NOT EXISTS link_clicks
(
    id UInt64 CODEC(Delta(8), ZSTD(1)),
    workspace_id UInt32 CODEC(ZSTD(1)),
    occurred_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    kind Enum8('click' = 1, 'head' = 2, 'prefetch' = 3, 'preview' = 4, 'bot' = 5) CODEC(ZSTD(1)),
    visitor UInt64 CODEC(ZSTD(1)),
    link_id UInt32 CODEC(ZSTD(1)),
    post_id UInt32 CODEC(ZSTD(1)),
    device Enum8('unknown' = 0, 'desktop' = 1, 'mobile' = 2, 'tablet' = 3, 'other' = 4) CODEC(ZSTD(1)),
    country FixedString(2) CODEC(ZSTD(1)),
    event_name LowCardinality(String) CODEC(ZSTD(1)),
    referrer String CODEC(ZSTD(1)),
    -- As the target was written. Empty: the link's own destination, or none.
    target_url String CODEC(ZSTD(1)),
    browser LowCardinality(String) CODEC(ZSTD(1)),
    os LowCardinality(String) CODEC(ZSTD(1)),
    bot_name LowCardinality(String) CODEC(ZSTD(1)),
    -- Ids grow with time: looking some up reads the granules of their time only.
    INDEX ids id TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toDate(occurred_at, 'UTC')
ORDER BY (workspace_id, link_id, occurred_at)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 480,
    non_replicated_deduplication_window = 10000;
