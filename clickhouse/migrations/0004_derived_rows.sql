-- Rows derived from `events` by the fold (pipeline/fold, decisions/0007). Each row is a function of the stored events and is
-- replaced whole: the highest version counts. `build` is a workspace's set of rows for one timezone; `day` is a local day
-- (since 1970) of that timezone.
--
-- A `prev_day` is the day of the visitor's appearance before, with the same key. 0: none. 65535: an earlier row of the same
-- day. The distinct visitors since day A are the appearances whose `prev_day` is less than A.

-- A session on one local day: two rows where it passes midnight. Each row says by itself what filters ask of the session, so
-- that nothing is looked up for it. Server events have visitor 0, and as `session` their UTC hour; they count as neither
-- visitor nor session.
-- `seen` is what the row counts for (pipeline/fold/appearances.ts). It has an appearance for each kind and key, with what it
-- adds to their figures, and how long after `first_at` it was.
-- The row of workspace 0 says which events the rows of all workspaces reflect (`folded`, ranges of ids), and as of when
-- (`first_at`). A fold writes it in one part with its rows, so that a reader sees all of a fold or nothing.
CREATE TABLE IF NOT EXISTS sessions
(
    workspace_id UInt32 CODEC(ZSTD(1)),
    build UInt32 CODEC(ZSTD(1)),
    day UInt16 CODEC(ZSTD(1)),
    visitor UInt64 CODEC(Delta(8), ZSTD(1)),
    session UInt64 CODEC(T64('bit'), ZSTD(1)),
    version UInt64 CODEC(T64, ZSTD(1)),
    first_at DateTime64(3, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    -- From the row's first event to its last. A second moment would take one and a half bytes more, the session's length two.
    lasted_ms UInt32 CODEC(T64, ZSTD(1)),
    last_at DateTime64(3, 'UTC') ALIAS fromUnixTimestamp64Milli(toUnixTimestamp64Milli(first_at) + lasted_ms, 'UTC'),
    -- 1: the day on which the session begins. 2: the next one. 0: later ones, and server events.
    nth_day UInt8 CODEC(ZSTD(1)),
    -- From here on to `entry_path`: the session's entry, on the rows of its first two days.
    source LowCardinality(String) CODEC(ZSTD(1)),
    medium LowCardinality(String) CODEC(ZSTD(1)),
    campaign LowCardinality(String) CODEC(ZSTD(1)),
    device LowCardinality(String) CODEC(ZSTD(1)),
    browser LowCardinality(String) CODEC(ZSTD(1)),
    os LowCardinality(String) CODEC(ZSTD(1)),
    country LowCardinality(String) CODEC(ZSTD(1)),
    -- Keys of breakdowns by the entry (clickhouse/rollups/entry-keys.ts).
    hostname LowCardinality(String) CODEC(ZSTD(1)),
    referrer LowCardinality(String) CODEC(ZSTD(1)),
    content LowCardinality(String) CODEC(ZSTD(1)),
    language LowCardinality(String) CODEC(ZSTD(1)),
    screen LowCardinality(String) CODEC(ZSTD(1)),
    entry_path LowCardinality(String) CODEC(ZSTD(1)),
    -- The last page of those two days, on the rows of both.
    exit_path LowCardinality(String) CODEC(ZSTD(1)),
    -- The pages of the other one of those two days.
    other_pages Nested(path LowCardinality(String), pageviews UInt32) CODEC(ZSTD(1)),
    -- In one session `sessions`, `fresh`, `begun`, `bounces`, `samples`, `exits` and `scrolled` are 0 or 1. With narrow types, and
    -- the codecs below, lists of two million sessions took 118 MB in place of 130, and 15 % less time to read. The last five are of
    -- pages alone (decisions/0032): 1.8 MB of a million events' 61.
    seen Nested
    (
        kind UInt8,
        key LowCardinality(String),
        detail LowCardinality(String),
        prev_day UInt16,
        after_ms UInt32,
        sessions UInt8,
        fresh UInt8,
        begun UInt8,
        bounces UInt8,
        duration_ms UInt32,
        pageviews UInt32,
        events UInt32,
        conversions UInt32,
        samples UInt8,
        exits UInt8,
        engaged_ms UInt64,
        timed_views UInt32,
        depths UInt8,
        scrolled UInt8
    ) CODEC(ZSTD(1)),
    folded Array(Tuple(UInt64, UInt64)) CODEC(ZSTD(1)),
    -- The row's counts for itself, out of `seen`: its first element is the session on that day, the first source that of its
    -- entry. Filtered overviews read these plain columns; the lists of `seen` take several times as long.
    day_pageviews UInt32 MATERIALIZED seen.pageviews[1] CODEC(T64, ZSTD(1)),
    day_events UInt32 MATERIALIZED seen.events[1] CODEC(T64, ZSTD(1)),
    day_conversions UInt32 MATERIALIZED arraySum((kind, n) -> if(kind = 0, n, 0), seen.kind, seen.conversions) CODEC(T64, ZSTD(1)),
    -- The whole session's, on the row of the day on which it begins; 0 on others.
    session_pageviews UInt32 MATERIALIZED seen.pageviews[indexOf(seen.kind, 2)] CODEC(T64, ZSTD(1)),
    session_events UInt32 MATERIALIZED seen.events[indexOf(seen.kind, 2)] CODEC(T64, ZSTD(1)),
    -- Its length is that of its first day, but where it passes midnight.
    later_ms Int64 MATERIALIZED if(nth_day = 1, toInt64(seen.duration_ms[1]) - lasted_ms, 0) CODEC(T64, ZSTD(1)),
    session_ms UInt64 ALIAS if(nth_day = 1, toUInt64(lasted_ms + later_ms), 0),
    is_bounce UInt8 MATERIALIZED seen.bounces[1] CODEC(T64, ZSTD(1)),
    -- A search for people asks whether any source or campaign has its letters: five million sessions in 8 ms, not 27.
    INDEX origins (source, campaign) TYPE set(1000) GRANULARITY 64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace_id, build, day, visitor, session)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 2048,
    non_replicated_deduplication_window = 1000;

-- A Nested is created with one codec for all its lists. Level 3 takes 8 % off kinds and keys, and no more time.
ALTER TABLE sessions
    MODIFY COLUMN seen.kind CODEC(ZSTD(3)),
    MODIFY COLUMN seen.key CODEC(ZSTD(3)),
    MODIFY COLUMN seen.sessions CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.fresh CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.begun CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.bounces CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.pageviews CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.events CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.conversions CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.samples CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.exits CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.timed_views CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.scrolled CODEC(T64, ZSTD(1));

-- A visitor on one local day: what the fold looks up for `prev_day`, credit, and the hours to read again.
-- Visitors are looked up one by one, far apart. With small blocks a look-up unpacks little beside the visitor's own rows.
-- With the usual 64 KiB a page of people among five million visitors took twice the time. Small ones take a tenth more space.
CREATE TABLE IF NOT EXISTS visitors
(
    workspace_id UInt32 CODEC(ZSTD(1)),
    build UInt32 CODEC(ZSTD(1)),
    visitor UInt64 CODEC(Delta(8), ZSTD(1)),
    day UInt16 CODEC(T64, ZSTD(1)),
    version UInt64 CODEC(T64, ZSTD(1)),
    first_at DateTime64(3, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    lasted_ms UInt32 CODEC(T64, ZSTD(1)),
    last_at DateTime64(3, 'UTC') ALIAS fromUnixTimestamp64Milli(toUnixTimestamp64Milli(first_at) + lasted_ms, 'UTC'),
    -- UTC hours with events: bit n is the n-th hour from the one in which the local day begins.
    hours UInt32 CODEC(T64, ZSTD(1)),
    sessions UInt32 CODEC(T64, ZSTD(1)),
    events UInt32 CODEC(T64, ZSTD(1)),
    conversions UInt32 CODEC(T64, ZSTD(1)),
    -- By these the visitor appeared (`keys` of pipeline/fold/appearances.ts).
    keys Array(LowCardinality(String)) CODEC(ZSTD(1)),
    -- The last non-direct touch of the day: mostly the day's first event. Without one `touch_source` is empty.
    touch_after_ms UInt32 CODEC(ZSTD(1)),
    touch_at DateTime64(3, 'UTC') ALIAS if(touch_source = '', toDateTime64(0, 3, 'UTC'),
        fromUnixTimestamp64Milli(toUnixTimestamp64Milli(first_at) + touch_after_ms, 'UTC')),
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
    non_replicated_deduplication_window = 1000,
    min_compress_block_size = 4096;

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
    -- The visitor whose touch it is: another browser of the same person may have it. 0: a server's event.
    touched_by UInt64 DEFAULT visitor CODEC(ZSTD(1)),
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

-- Rollups of a local day that is over. A row for each kind, whose `seen` adds up that of the day's sessions by key. Its
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
        samples UInt32,
        exits UInt32,
        engaged_ms UInt64,
        timed_views UInt32,
        depths UInt32,
        scrolled UInt32
    ) CODEC(ZSTD(1)),
    -- For kind `all` and for pages: an element for each web vital, with how many samples (`counts`) have which of `values`
    -- (clickhouse/rollups/round-vital.ts). For kind `all` it has the sum and the newest sample too. A page's newest title is its
    -- metric 0, without values.
    sample Nested
    (
        metric UInt8,
        values Array(UInt64),
        counts Array(UInt32),
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
