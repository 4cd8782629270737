-- Crawler visits, reported by the bots endpoint or met on the tracking endpoint. Apart from `events`: they are in none
-- of its figures and are kept for a time of their own. No address: only a hash under a salt that is deleted.
-- The projections are sums, kept by ClickHouse within each part of the table. They are committed with its rows, or not at
-- all, and so always agree with them. A query that asks for no more is answered from them (queries/bot-visits.ts).
CREATE TABLE IF NOT EXISTS bot_visits
(
    id UInt64 CODEC(Delta(8), ZSTD(1)),
    workspace_id UInt32 CODEC(ZSTD(1)),
    occurred_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    received_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    category Enum8('search' = 1, 'ai_training' = 2, 'ai_search' = 3, 'ai_assistant' = 4, 'social_preview' = 5, 'seo' = 6, 'monitoring' = 7, 'feed' = 8, 'archiver' = 9, 'security' = 10, 'other' = 11) CODEC(ZSTD(1)),
    verified UInt8 CODEC(ZSTD(1)),
    verification_method Enum8('none' = 0, 'ip_range' = 1, 'reverse_dns' = 2) CODEC(ZSTD(1)),
    -- A crawler that runs a page's script sends several events for one visit. 'track_event' marks those that are no page
    -- view: they are kept, and no figure counts them. The sums have the column as a key, so that they can leave them out.
    reported_by Enum8('track' = 1, 'bots_endpoint' = 2, 'track_event' = 3) CODEC(ZSTD(1)),
    status_code UInt16 CODEC(ZSTD(1)),
    response_ms UInt32 CODEC(ZSTD(1)),
    ip_hash FixedString(16) CODEC(ZSTD(1)),
    client_event_id String CODEC(ZSTD(1)),
    method LowCardinality(String) CODEC(ZSTD(1)),
    path String CODEC(ZSTD(1)),
    url String CODEC(ZSTD(1)),
    referrer String CODEC(ZSTD(1)),
    user_agent LowCardinality(String) CODEC(ZSTD(1)),
    bot_name LowCardinality(String) CODEC(ZSTD(1)),
    operator LowCardinality(String) CODEC(ZSTD(1)),
    -- Ids grow with time: looking some up reads the granules of their time only.
    INDEX ids id TYPE minmax GRANULARITY 1,
    PROJECTION sums_of_bots
    (
        SELECT
            workspace_id,
            toStartOfFifteenMinutes(occurred_at),
            bot_name,
            operator,
            category,
            verified,
            reported_by,
            count(),
            max(occurred_at)
        GROUP BY
            workspace_id,
            toStartOfFifteenMinutes(occurred_at),
            bot_name,
            operator,
            category,
            verified,
            reported_by
    ),
    PROJECTION sums_of_pages
    (
        SELECT
            workspace_id,
            toDate(occurred_at, 'UTC'),
            path,
            reported_by,
            count(),
            max(occurred_at)
        GROUP BY
            workspace_id,
            toDate(occurred_at, 'UTC'),
            path,
            reported_by
    ),
    -- States of sets, which can be united with those of other rows.
    PROJECTION pages_of_bots
    (
        SELECT
            workspace_id,
            toDate(occurred_at, 'UTC'),
            bot_name,
            operator,
            category,
            verified,
            reported_by,
            uniqCombined64State(18)(path)
        GROUP BY
            workspace_id,
            toDate(occurred_at, 'UTC'),
            bot_name,
            operator,
            category,
            verified,
            reported_by
    )
)
ENGINE = MergeTree
PARTITION BY toDate(occurred_at, 'UTC')
ORDER BY (workspace_id, toStartOfHour(occurred_at), bot_name, occurred_at)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 480,
    non_replicated_deduplication_window = 10000;
