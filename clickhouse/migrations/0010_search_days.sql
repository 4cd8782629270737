-- Search terms of a day, as Google Search Console counts days (since 1970). A row for each kind: the day's total, its queries, its
-- pages, and the queries of its pages. A day is replaced whole: its rows come in one insert, and the highest version counts.
CREATE TABLE IF NOT EXISTS search_days
(
    workspace_id UInt32 CODEC(ZSTD(1)),
    site UInt32 CODEC(ZSTD(1)),
    kind Enum8('total' = 0, 'query' = 1, 'page' = 2, 'pair' = 3) CODEC(ZSTD(1)),
    day UInt16 CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    seen Nested
    (
        query String,
        page String,
        clicks UInt32,
        impressions UInt32,
        -- The mean over the impressions.
        position Float64
    ) CODEC(ZSTD(1)),
    -- 1: the day had more rows of this kind than are kept.
    is_cut UInt8 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace_id, site, kind, day)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    index_granularity = 32,
    non_replicated_deduplication_window = 1000;
