-- Aggregates of `events`, written by the pipeline (decisions/0007), never by views on insert. All tables have one shape:
--
--   generation   an immutable set of rows of one UTC day: the number of the attempt that wrote it × 65,536 + the day (since
--                1970). Postgres says which generations make up a day. Each is a partition of its own: letting it go is a
--                matter of dropping it.
--   is_closed    1: of a day that is over, in one generation, with rows of the whole day. Those of 32 days share a partition,
--                because every part that a query looks into costs it a fraction of a millisecond.
--   is_day       0: the rows of one hour (`hour`, UTC, in hours since 1970); 1: the same merged over the whole day, or over a
--                block of days that begins with it
--
-- then what is counted by, then sums and states. Sums are signed: a generation may take back what an earlier one counted.
-- A reader wants few rows of each generation, and states are read from a granule's first row on: granules are small.
-- What each column counts stands in clickhouse/aggregates/; sets of totals (uniqCombined64(19)) are exact to
-- 16,000; those of lists (uniqCombined(17), hashes of 32 bits, half the bytes) to 8,000 but for one value in a million.

-- Events of all kinds, and what web vitals have besides their distribution.
CREATE TABLE IF NOT EXISTS agg_traffic
(
    generation UInt64,
    is_closed UInt8 DEFAULT 0,
    workspace_id UInt32,
    is_day UInt8,
    hour UInt32 CODEC(T64, ZSTD(1)),
    pageviews Int64 CODEC(T64, ZSTD(1)),
    events Int64 CODEC(T64, ZSTD(1)),
    conversions Int64 CODEC(T64, ZSTD(1)),
    shown_events Int64 CODEC(T64, ZSTD(1)),
    visitors AggregateFunction(uniqCombined64(19), UInt64) CODEC(ZSTD(1)),
    sessions AggregateFunction(uniqCombined64(19), UInt64) CODEC(ZSTD(1)),
    converting AggregateFunction(uniqCombined64(19), UInt64) CODEC(ZSTD(1)),
    fcp_total Float64 CODEC(ZSTD(1)),
    lcp_total Float64 CODEC(ZSTD(1)),
    inp_total Float64 CODEC(ZSTD(1)),
    cls_total Float64 CODEC(ZSTD(1)),
    fcp_latest Tuple(at DateTime64(3, 'UTC'), id UInt64, value Float64) CODEC(ZSTD(1)),
    lcp_latest Tuple(at DateTime64(3, 'UTC'), id UInt64, value Float64) CODEC(ZSTD(1)),
    inp_latest Tuple(at DateTime64(3, 'UTC'), id UInt64, value Float64) CODEC(ZSTD(1)),
    cls_latest Tuple(at DateTime64(3, 'UTC'), id UInt64, value Float64) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY if(is_closed = 1, intDiv(generation % 65536, 32), generation)
ORDER BY (workspace_id, is_day, hour)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 4,
    non_replicated_deduplication_window = 1000;

-- Pageviews, conversions and samples of web vitals by path; `title` is the newest with a pageview.
CREATE TABLE IF NOT EXISTS agg_pages
(
    generation UInt64,
    is_closed UInt8 DEFAULT 0,
    workspace_id UInt32,
    is_day UInt8,
    hour UInt32 CODEC(T64, ZSTD(1)),
    path String CODEC(ZSTD(1)),
    pageviews Int64 CODEC(T64, ZSTD(1)),
    conversions Int64 CODEC(T64, ZSTD(1)),
    samples Int64 CODEC(T64, ZSTD(1)),
    visitors AggregateFunction(uniqCombined(17), UInt64) CODEC(ZSTD(1)),
    sessions AggregateFunction(uniqCombined(17), UInt64) CODEC(ZSTD(1)),
    title Tuple(at DateTime64(3, 'UTC'), id UInt64, text String) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY if(is_closed = 1, intDiv(generation % 65536, 32), generation)
ORDER BY (workspace_id, is_day, hour, path)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 64,
    non_replicated_deduplication_window = 1000;

-- Samples of web vitals by value; `value` in millionths, rounded up by at most half a per cent.
CREATE TABLE IF NOT EXISTS agg_vitals
(
    generation UInt64,
    is_closed UInt8 DEFAULT 0,
    workspace_id UInt32,
    is_day UInt8,
    hour UInt32 CODEC(T64, ZSTD(1)),
    metric Enum8('none' = 0, 'FCP' = 1, 'LCP' = 2, 'INP' = 3, 'CLS' = 4),
    value UInt64 CODEC(T64, ZSTD(1)),
    samples Int64 CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY if(is_closed = 1, intDiv(generation % 65536, 32), generation)
ORDER BY (workspace_id, is_day, hour, metric, value)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 1024,
    non_replicated_deduplication_window = 1000;

-- The same by path.
CREATE TABLE IF NOT EXISTS agg_page_vitals
(
    generation UInt64,
    is_closed UInt8 DEFAULT 0,
    workspace_id UInt32,
    is_day UInt8,
    hour UInt32 CODEC(T64, ZSTD(1)),
    path String CODEC(ZSTD(1)),
    metric Enum8('none' = 0, 'FCP' = 1, 'LCP' = 2, 'INP' = 3, 'CLS' = 4),
    value UInt64 CODEC(T64, ZSTD(1)),
    samples Int64 CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY if(is_closed = 1, intDiv(generation % 65536, 32), generation)
ORDER BY (workspace_id, is_day, hour, path, metric, value)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 128,
    non_replicated_deduplication_window = 1000;

-- Sessions by the hour of their first event, whole. `retracted` rows count nothing: they say that the visitors of the hour are to be
-- computed anew, because a set forgets nobody. `entry`: by the path of the first pageview, without visitors.
CREATE TABLE IF NOT EXISTS agg_sessions
(
    generation UInt64,
    is_closed UInt8 DEFAULT 0,
    workspace_id UInt32,
    is_day UInt8,
    hour UInt32 CODEC(T64, ZSTD(1)),
    dimension Enum8('total' = 0, 'source' = 1, 'device' = 2, 'browser' = 3, 'country' = 4, 'entry' = 5, 'retracted' = 6),
    key String CODEC(ZSTD(1)),
    detail LowCardinality(String) CODEC(ZSTD(1)),
    sessions Int64 CODEC(T64, ZSTD(1)),
    pageviews Int64 CODEC(T64, ZSTD(1)),
    events Int64 CODEC(T64, ZSTD(1)),
    bounces Int64 CODEC(T64, ZSTD(1)),
    duration_ms Int64 CODEC(T64, ZSTD(1)),
    visitors AggregateFunction(uniqCombined(17), UInt64) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY if(is_closed = 1, intDiv(generation % 65536, 32), generation)
ORDER BY (workspace_id, is_day, hour, dimension, key, detail)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 64,
    non_replicated_deduplication_window = 1000;

-- Every conversion with what it is credited to: `source`, `medium` of the last touch at `touched_at`, or, where that is 0 or can not be read
-- any more, those of its session. A correction is a row that takes the old one back and a new one. Hours only.
CREATE TABLE IF NOT EXISTS agg_conversions
(
    generation UInt64,
    is_closed UInt8 DEFAULT 0,
    workspace_id UInt32,
    is_day UInt8,
    hour UInt32 CODEC(T64, ZSTD(1)),
    occurred_at DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
    id UInt64 CODEC(T64, ZSTD(1)),
    touched_at DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    medium LowCardinality(String) CODEC(ZSTD(1)),
    session_source LowCardinality(String) CODEC(ZSTD(1)),
    session_medium LowCardinality(String) CODEC(ZSTD(1)),
    device LowCardinality(String) CODEC(ZSTD(1)),
    browser LowCardinality(String) CODEC(ZSTD(1)),
    country LowCardinality(String) CODEC(ZSTD(1)),
    conversions Int64 CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY if(is_closed = 1, intDiv(generation % 65536, 32), generation)
ORDER BY (workspace_id, is_day, hour, id)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 1024,
    non_replicated_deduplication_window = 1000;

-- The last touch of each visitor in each hour, found by visitor. Hours only, and only for as long as a conversion can be credited to them.
CREATE TABLE IF NOT EXISTS agg_touches
(
    generation UInt64,
    is_closed UInt8 DEFAULT 0,
    workspace_id UInt32,
    is_day UInt8,
    hour UInt32 CODEC(T64, ZSTD(1)),
    visitor UInt64 CODEC(ZSTD(1)),
    touch Tuple(at DateTime64(3, 'UTC'), id UInt64, source String, medium String) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY if(is_closed = 1, intDiv(generation % 65536, 32), generation)
ORDER BY (workspace_id, is_day, visitor, hour)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 1024,
    non_replicated_deduplication_window = 1000;
