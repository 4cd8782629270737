-- What a database begins with that no migration has run in. ClickHouse can't change the order of a table that is there, so
-- the one that newer databases have is said here; migrations then find the table and change it as they do the older one.
--
-- Every human event, as 0001_events.sql says, but for its order and for when it was received: the rows of a visitor's hour stand together, and so do the
-- page, browser and ids that they have in common, which then take a fifth less room. With the kind before the visitor,
-- each of them stood in up to seven places. An hour of most workspaces is a granule or two: what is asked of one kind reads no more.
CREATE TABLE IF NOT EXISTS events
(
    id UInt64 CODEC(T64, ZSTD(1)),
    workspace_id UInt32 CODEC(ZSTD(1)),
    occurred_at DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
    -- Only written: what is stored is how long after `occurred_at` that was, which takes 1.1 bytes in place of 2.7.
    received_at DateTime64(3, 'UTC') EPHEMERAL toDateTime64(0, 3, 'UTC') CODEC(T64, ZSTD(1)),
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
    path String CODEC(ZSTD(3)),
    url String CODEC(ZSTD(3)),
    title String CODEC(ZSTD(1)),
    referrer String CODEC(ZSTD(1)),
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
    non_replicated_deduplication_window = 10000;
