-- Of one session `sessions`, `fresh`, `begun`, `bounces` and `samples` are 0 or 1. Of two million sessions the lists take 12 MB
-- less of 130, and are read in 15 % less time.
ALTER TABLE sessions
    MODIFY COLUMN seen.sessions Array(UInt8) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.fresh Array(UInt8) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.begun Array(UInt8) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.bounces Array(UInt8) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.samples Array(UInt8) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.pageviews Array(UInt32) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.events Array(UInt32) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.conversions Array(UInt32) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN seen.duration_ms Array(UInt32) CODEC(ZSTD(1));
