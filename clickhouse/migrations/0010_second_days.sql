-- Each row of a session says by itself what filters ask of the session, so that nothing is looked up for it: both rows have the
-- entry, and the pages of the other day. 'nth_day' is 1 on the day on which the session begins, 2 on the next one, and 0
-- on later ones and for server events.
-- Rows that were written before know nothing of it, and are built anew (postgres/migrations/0022).
ALTER TABLE sessions RENAME COLUMN IF EXISTS begins TO nth_day;
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS other_pages Nested(path LowCardinality(String), pageviews UInt32) CODEC(ZSTD(1)) AFTER entry_path;
