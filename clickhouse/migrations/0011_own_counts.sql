-- What a session's row counts for itself, out of `seen`: its first element is the session on that day, the first source is
-- that of its entry. Filtered overviews read these plain columns; the lists of `seen` take several times as long.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS day_pageviews UInt32 MATERIALIZED seen.pageviews[1] CODEC(T64, ZSTD(1));
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS day_events UInt32 MATERIALIZED seen.events[1] CODEC(T64, ZSTD(1));
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS day_conversions UInt32
    MATERIALIZED arraySum((kind, n) -> if(kind = 0, n, 0), seen.kind, seen.conversions) CODEC(T64, ZSTD(1));
-- Of the whole session, on the row of the day on which it begins; 0 on others.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS session_pageviews UInt32 MATERIALIZED seen.pageviews[indexOf(seen.kind, 2)] CODEC(T64, ZSTD(1));
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS session_events UInt32 MATERIALIZED seen.events[indexOf(seen.kind, 2)] CODEC(T64, ZSTD(1));
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS session_ms UInt64 MATERIALIZED seen.duration_ms[1] CODEC(T64, ZSTD(1));
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS is_bounce UInt8 MATERIALIZED seen.bounces[1] CODEC(T64, ZSTD(1));
ALTER TABLE sessions MATERIALIZE COLUMN day_pageviews, MATERIALIZE COLUMN day_events, MATERIALIZE COLUMN day_conversions,
    MATERIALIZE COLUMN session_pageviews, MATERIALIZE COLUMN session_events, MATERIALIZE COLUMN session_ms,
    MATERIALIZE COLUMN is_bounce;
