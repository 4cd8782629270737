-- Where in its country an event's visitor was (docs/tracking.md). Empty: unknown. `region` is ISO 3166-2, or the country's code
-- and the region's name; `region_name` is its English name, where that is known.
ALTER TABLE events
    ADD COLUMN IF NOT EXISTS region LowCardinality(String) CODEC(ZSTD(1)) AFTER os,
    ADD COLUMN IF NOT EXISTS region_name LowCardinality(String) CODEC(ZSTD(1)) AFTER region,
    ADD COLUMN IF NOT EXISTS city LowCardinality(String) CODEC(ZSTD(1)) AFTER region_name;

-- They are the session's entry's, as `country` is. `city` has its region or country behind it, so that it stands for one place.
ALTER TABLE sessions
    ADD COLUMN IF NOT EXISTS region LowCardinality(String) CODEC(ZSTD(1)) AFTER country,
    ADD COLUMN IF NOT EXISTS region_name LowCardinality(String) CODEC(ZSTD(1)) AFTER region,
    ADD COLUMN IF NOT EXISTS city LowCardinality(String) CODEC(ZSTD(1)) AFTER region_name;
