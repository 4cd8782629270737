-- Rows derived from `events` by the fold (pipeline/fold, decisions/0007). Each row is a function of the stored events and is
-- replaced whole: the highest version counts. `build` is a workspace's set of rows for one timezone; `day` is a local day
-- (since 1970) of that timezone.
--
-- A `prev_day` is the day of the visitor's appearance before, with the same key: 0 for none, 65535 for an earlier row of the
-- same day. The distinct visitors since day A are the appearances whose `prev_day` is less than A.

-- A session on one local day. Two rows where it passes midnight; `begins` marks the first, which has the columns of the whole
-- session. Server events have visitor 0, and as `session` their UTC hour; they count as neither visitor nor session.
-- The row of workspace 0 says which events the rows of all workspaces reflect (`folded`, ranges of ids), and as of when
-- (`first_at`). A fold writes it in one part with its rows, so that a reader sees all of a fold or nothing.
CREATE TABLE IF NOT EXISTS sessions
(
    workspace_id UInt32 CODEC(ZSTD(1)),
    build UInt32 CODEC(ZSTD(1)),
    day UInt16 CODEC(ZSTD(1)),
    visitor UInt64 CODEC(Delta(8), ZSTD(1)),
    session UInt64 CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    first_at DateTime64(3, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    last_at DateTime64(3, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    prev_day UInt16 CODEC(ZSTD(1)),
    continued UInt8 CODEC(ZSTD(1)),
    begins UInt8 CODEC(ZSTD(1)),
    -- Of this row's day.
    events UInt32 CODEC(T64, ZSTD(1)),
    pageviews UInt32 CODEC(T64, ZSTD(1)),
    conversions UInt32 CODEC(T64, ZSTD(1)),
    -- Of the whole session.
    session_events UInt32 CODEC(T64, ZSTD(1)),
    session_pageviews UInt32 CODEC(T64, ZSTD(1)),
    duration_ms UInt32 CODEC(T64, ZSTD(1)),
    is_bounce UInt8 CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    medium LowCardinality(String) CODEC(ZSTD(1)),
    campaign LowCardinality(String) CODEC(ZSTD(1)),
    device LowCardinality(String) CODEC(ZSTD(1)),
    browser LowCardinality(String) CODEC(ZSTD(1)),
    os LowCardinality(String) CODEC(ZSTD(1)),
    country LowCardinality(String) CODEC(ZSTD(1)),
    has_entry UInt8 CODEC(ZSTD(1)),
    entry_path LowCardinality(String) CODEC(ZSTD(1)),
    source_prev_day UInt16 CODEC(ZSTD(1)),
    device_prev_day UInt16 CODEC(ZSTD(1)),
    browser_prev_day UInt16 CODEC(ZSTD(1)),
    country_prev_day UInt16 CODEC(ZSTD(1)),
    -- The visitor's first conversion of the day.
    converted_at DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    converting_prev_day UInt16 CODEC(ZSTD(1)),
    page_path Array(LowCardinality(String)) CODEC(ZSTD(1)),
    page_views Array(UInt32) CODEC(T64, ZSTD(1)),
    -- From `first_at` to the first view.
    page_after_ms Array(UInt32) CODEC(T64, ZSTD(1)),
    page_prev_day Array(UInt16) CODEC(ZSTD(1)),
    page_continued Array(UInt8) CODEC(ZSTD(1)),
    folded Array(Tuple(UInt64, UInt64)) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace_id, build, day, visitor, session)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 2048,
    non_replicated_deduplication_window = 1000;

-- A visitor on one local day: what the fold looks up for `prev_day`, credit, and the hours to read again.
CREATE TABLE IF NOT EXISTS visitors
(
    workspace_id UInt32 CODEC(ZSTD(1)),
    build UInt32 CODEC(ZSTD(1)),
    visitor UInt64 CODEC(Delta(8), ZSTD(1)),
    day UInt16 CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    first_at DateTime64(3, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    last_at DateTime64(3, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    -- UTC hours with events: bit n is the n-th hour from the one in which the local day begins.
    hours UInt32 CODEC(ZSTD(1)),
    sessions UInt32 CODEC(T64, ZSTD(1)),
    events UInt32 CODEC(T64, ZSTD(1)),
    conversions UInt32 CODEC(T64, ZSTD(1)),
    -- What the visitor appeared with (pipeline/fold/derive-session.ts).
    keys Array(LowCardinality(String)) CODEC(ZSTD(1)),
    -- The last non-direct touch of the day.
    touch_at DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    touch_source LowCardinality(String) CODEC(ZSTD(1)),
    touch_medium LowCardinality(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace_id, build, visitor, day)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 256,
    non_replicated_deduplication_window = 1000;

-- A conversion with what it is credited to, and its event's own path, device, browser and country.
CREATE TABLE IF NOT EXISTS credits
(
    workspace_id UInt32 CODEC(ZSTD(1)),
    build UInt32 CODEC(ZSTD(1)),
    day UInt16 CODEC(ZSTD(1)),
    id UInt64 CODEC(T64('bit'), ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    occurred_at DateTime64(3, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    visitor UInt64 CODEC(ZSTD(1)),
    session UInt64 CODEC(ZSTD(1)),
    -- By which rule: the last touch within 30 days, the session's entry, or the event's own source.
    rule Enum8('touch' = 1, 'session' = 2, 'event' = 3) CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    medium LowCardinality(String) CODEC(ZSTD(1)),
    touched_at DateTime64(3, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    path LowCardinality(String) CODEC(ZSTD(1)),
    device LowCardinality(String) CODEC(ZSTD(1)),
    browser LowCardinality(String) CODEC(ZSTD(1)),
    country LowCardinality(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace_id, build, day, id)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 1000;

-- Rollups of days that are over, by kind and key. Visitors are a histogram: how many appeared with which `prev_day`.
CREATE TABLE IF NOT EXISTS cells
(
    workspace_id UInt32 CODEC(ZSTD(1)),
    build UInt32 CODEC(ZSTD(1)),
    day UInt16 CODEC(ZSTD(1)),
    kind Enum8('all' = 0, 'converting' = 1, 'source' = 2, 'device' = 3, 'browser' = 4, 'country' = 5, 'page' = 6),
    key String CODEC(ZSTD(1)),
    detail LowCardinality(String) CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    prev_days Array(UInt16) CODEC(ZSTD(1)),
    prev_counts Array(UInt32) CODEC(T64, ZSTD(1)),
    sessions UInt64 CODEC(T64, ZSTD(1)),
    -- Those of `sessions` that were there on the day before, too.
    continued UInt64 CODEC(T64, ZSTD(1)),
    begun UInt64 CODEC(T64, ZSTD(1)),
    bounces UInt64 CODEC(T64, ZSTD(1)),
    duration_ms UInt64 CODEC(T64, ZSTD(1)),
    -- Of sources, devices, browsers and countries: of the whole sessions.
    pageviews UInt64 CODEC(T64, ZSTD(1)),
    events UInt64 CODEC(T64, ZSTD(1)),
    conversions UInt64 CODEC(T64, ZSTD(1)),
    -- Newest title of a page, with its event's time and id.
    title Tuple(at DateTime64(3, 'UTC'), id UInt64, text String) CODEC(ZSTD(1)),
    -- Samples of web vitals by value (clickhouse/rollups/vitals.ts), and of kind `all` sums and newest values by metric.
    vital_metric Array(UInt8) CODEC(ZSTD(1)),
    vital_value Array(UInt64) CODEC(T64, ZSTD(1)),
    vital_samples Array(UInt32) CODEC(T64, ZSTD(1)),
    metric_metric Array(UInt8) CODEC(ZSTD(1)),
    metric_total Array(Float64) CODEC(ZSTD(1)),
    metric_latest Array(Tuple(DateTime64(3, 'UTC'), UInt64, Float64)) CODEC(ZSTD(1)),
    -- 1: the day had more keys of this kind than are kept.
    is_cut UInt8 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace_id, build, kind, day, key, detail)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 1024,
    non_replicated_deduplication_window = 1000;
