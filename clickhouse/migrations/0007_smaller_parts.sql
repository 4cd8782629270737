-- Types and codecs by the bytes and the time that they were measured to take (decisions/0006, 0012). Codecs hold for the parts
-- that are written from now on, by inserts and by merges; what is stored is read as before.

-- Rows of a page's views, vitals and leaves repeat its texts: each stands in a part once, and rows have its number. These
-- columns are written anew in the parts that are there; rows come in, and are read, meanwhile.
ALTER TABLE events
    MODIFY COLUMN path LowCardinality(String) CODEC(ZSTD(1)),
    MODIFY COLUMN url LowCardinality(String) CODEC(ZSTD(1)),
    MODIFY COLUMN title LowCardinality(String) CODEC(ZSTD(1)),
    MODIFY COLUMN referrer LowCardinality(String) CODEC(ZSTD(1));

ALTER TABLE events
    MODIFY COLUMN id CODEC(T64('bit'), ZSTD(1)),
    MODIFY COLUMN occurred_at CODEC(T64('bit'), ZSTD(1)),
    MODIFY COLUMN received_at CODEC(T64('bit'), ZSTD(1));

-- Sets of the same visitors by source, device, browser and country stand next to each other: from level 4 on ZSTD sees it.
ALTER TABLE agg_sessions
    MODIFY COLUMN generation CODEC(ZSTD(1)),
    MODIFY COLUMN key CODEC(ZSTD(3)),
    MODIFY COLUMN visitors CODEC(ZSTD(4));

ALTER TABLE agg_pages
    MODIFY COLUMN generation CODEC(ZSTD(1)),
    MODIFY COLUMN path CODEC(ZSTD(3)),
    MODIFY COLUMN visitors CODEC(ZSTD(4)),
    MODIFY COLUMN sessions CODEC(ZSTD(4)),
    MODIFY COLUMN title CODEC(ZSTD(3));

ALTER TABLE agg_page_vitals
    MODIFY COLUMN generation CODEC(ZSTD(1)),
    MODIFY COLUMN path CODEC(ZSTD(3)),
    MODIFY COLUMN metric CODEC(ZSTD(3)),
    MODIFY COLUMN value CODEC(ZSTD(3));

ALTER TABLE agg_vitals
    MODIFY COLUMN generation CODEC(ZSTD(1)),
    MODIFY COLUMN metric CODEC(ZSTD(1)),
    MODIFY COLUMN value CODEC(Delta(8), ZSTD(3));

ALTER TABLE agg_touches
    MODIFY COLUMN generation CODEC(ZSTD(1)),
    MODIFY COLUMN visitor CODEC(Delta(8), ZSTD(1));
