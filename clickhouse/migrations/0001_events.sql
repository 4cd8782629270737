-- Every human event, one row each, as ingest wrote it to its log. The columns stand in schemas/event/row.ts.
-- The order key follows the questions: one workspace, a span of hours, one visitor. The rows of a visitor's hour stand
-- together, and so do the page, browser and ids that they share. Rows are synced before an insert answers, because the
-- log lets go of what ClickHouse has acknowledged; repeated inserts are told by their token.
-- Types and codecs by measured bytes and time: decisions/0006, 0012, 0013.
CREATE TABLE IF NOT EXISTS events
(
    id UInt64 CODEC(T64('bit'), ZSTD(1)),
    workspace_id UInt32 CODEC(ZSTD(1)),
    occurred_at DateTime64(3, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    -- Only written: what is stored is how long after `occurred_at` that was, which takes 1.1 bytes in place of 2.7.
    received_at DateTime64(3, 'UTC') EPHEMERAL toDateTime64(0, 3, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    receive_delay_ms Int64 DEFAULT toUnixTimestamp64Milli(received_at) - toUnixTimestamp64Milli(occurred_at) CODEC(T64, ZSTD(1)),
    arrived_at DateTime64(3, 'UTC') ALIAS fromUnixTimestamp64Milli(toUnixTimestamp64Milli(occurred_at) + receive_delay_ms, 'UTC'),
    event_type Enum8('track' = 1, 'identify' = 2, 'conversion' = 3) CODEC(ZSTD(1)),
    kind Enum8('pageview' = 1, 'custom' = 2, 'autocapture' = 3, 'web_vital' = 4, 'page_leave' = 5, 'identify' = 6, 'conversion' = 7) CODEC(ZSTD(1)),
    visitor UInt64 CODEC(ZSTD(1)),
    session UInt64 CODEC(ZSTD(1)),
    session_named UInt8 CODEC(ZSTD(1)),
    email_hash UInt64 CODEC(ZSTD(1)),
    device Enum8('unknown' = 0, 'desktop' = 1, 'mobile' = 2, 'tablet' = 3, 'other' = 4) CODEC(ZSTD(1)),
    metric Enum8('none' = 0, 'FCP' = 1, 'LCP' = 2, 'INP' = 3, 'CLS' = 4) CODEC(ZSTD(1)),
    metric_value Float64 CODEC(ZSTD(1)),
    engagement_ms UInt32 CODEC(T64, ZSTD(1)),
    scroll_depth UInt8 CODEC(ZSTD(1)),
    screen_width UInt16 CODEC(ZSTD(1)),
    link_id UInt32 CODEC(ZSTD(1)),
    post_id UInt32 CODEC(ZSTD(1)),
    country FixedString(2) CODEC(ZSTD(1)),
    event_name LowCardinality(String) CODEC(ZSTD(1)),
    anonymous_id String CODEC(ZSTD(1)),
    client_event_id String CODEC(ZSTD(1)),
    path LowCardinality(String) CODEC(ZSTD(1)),
    url LowCardinality(String) CODEC(ZSTD(1)),
    title LowCardinality(String) CODEC(ZSTD(1)),
    referrer LowCardinality(String) CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    medium LowCardinality(String) CODEC(ZSTD(1)),
    campaign LowCardinality(String) CODEC(ZSTD(1)),
    content LowCardinality(String) CODEC(ZSTD(1)),
    browser LowCardinality(String) CODEC(ZSTD(1)),
    os LowCardinality(String) CODEC(ZSTD(1)),
    language LowCardinality(String) CODEC(ZSTD(1)),
    timezone LowCardinality(String) CODEC(ZSTD(1)),
    properties String CODEC(ZSTD(1)),
    -- Ids grow with time: looking some up reads the granules of their time only.
    INDEX ids id TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toDate(occurred_at, 'UTC')
ORDER BY (workspace_id, toStartOfHour(occurred_at), visitor, occurred_at)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 480,
    merge_selector_base = 10,
    non_replicated_deduplication_window = 10000;
