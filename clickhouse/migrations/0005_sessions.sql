-- Rows derived from `events` by the fold (pipeline/fold, decisions/0007). Each row is a function of the stored events and is
-- replaced whole: the highest version counts. `build` is a workspace's set of rows for one timezone; `day` is a local day
-- (since 1970) of that timezone.
--
-- A `prev_day` is the day of the visitor's appearance before, with the same key: 0 for none, 65535 for an earlier row of the
-- same day. The distinct visitors since day A are the appearances whose `prev_day` is less than A.

-- A session on one local day. Two rows where it passes midnight; `begins` marks the first, which has the columns of the whole
-- session. Server events have visitor 0, and as `session` their UTC hour; they count as neither visitor nor session.
-- `seen` is what the row counts for (pipeline/fold/appearances.ts): an appearance for each kind and key, with what it adds to
-- their figures, and how long after `first_at` it was.
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
    begins UInt8 CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    medium LowCardinality(String) CODEC(ZSTD(1)),
    campaign LowCardinality(String) CODEC(ZSTD(1)),
    device LowCardinality(String) CODEC(ZSTD(1)),
    browser LowCardinality(String) CODEC(ZSTD(1)),
    os LowCardinality(String) CODEC(ZSTD(1)),
    country LowCardinality(String) CODEC(ZSTD(1)),
    entry_path LowCardinality(String) CODEC(ZSTD(1)),
    seen Nested
    (
        kind UInt8,
        key LowCardinality(String),
        detail LowCardinality(String),
        prev_day UInt16,
        after_ms UInt32,
        sessions UInt32,
        fresh UInt32,
        begun UInt32,
        bounces UInt32,
        duration_ms UInt64,
        pageviews UInt32,
        events UInt32,
        conversions UInt32,
        samples UInt32
    ) CODEC(ZSTD(1)),
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
    -- What the visitor appeared with (`keys` of pipeline/fold/appearances.ts).
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

-- Rollups of a local day that is over. A row for each kind, whose `seen` adds up that of the day's sessions by key: its
-- visitors are a histogram, with how many appeared (`visitors`) by each of `prev_days`. And a row for each
-- page with a title or samples of web vitals: its `key` is the path, which the other rows leave empty.
CREATE TABLE IF NOT EXISTS cells
(
    workspace_id UInt32 CODEC(ZSTD(1)),
    build UInt32 CODEC(ZSTD(1)),
    kind UInt8 CODEC(ZSTD(1)),
    key String CODEC(ZSTD(1)),
    day UInt16 CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    seen Nested
    (
        key LowCardinality(String),
        detail LowCardinality(String),
        prev_days Array(UInt16),
        visitors Array(UInt32),
        sessions UInt32,
        fresh UInt32,
        begun UInt32,
        bounces UInt32,
        duration_ms UInt64,
        pageviews UInt32,
        events UInt32,
        conversions UInt32,
        samples UInt32
    ) CODEC(ZSTD(1)),
    -- Of kind `all` and of pages: samples of web vitals by value (clickhouse/rollups/vitals.ts). Without `n`: of kind `all`
    -- the sum and the newest value of a metric; of a page, as metric 0, its newest title.
    sample Nested
    (
        metric UInt8,
        value UInt64,
        n UInt32,
        total Float64,
        latest Tuple(at DateTime64(3, 'UTC'), id UInt64, value Float64, title String)
    ) CODEC(ZSTD(1)),
    -- 1: the day had more keys of this kind than are kept.
    is_cut UInt8 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace_id, build, kind, key, day)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 32,
    non_replicated_deduplication_window = 1000;
