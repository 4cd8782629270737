-- The visitor whose touch a conversion is credited to: another browser of the same person may have it. 0: a server's event.
ALTER TABLE credits ADD COLUMN IF NOT EXISTS touched_by UInt64 DEFAULT visitor CODEC(ZSTD(1)) AFTER touched_at;
