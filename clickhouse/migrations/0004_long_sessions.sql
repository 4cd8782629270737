-- `long` rows of agg_sessions count nothing, as `retracted` ones: they name the sessions that one statement leaves to another
-- (aggregates/session-starts.ts).
ALTER TABLE agg_sessions MODIFY COLUMN dimension
    Enum8('total' = 0, 'source' = 1, 'device' = 2, 'browser' = 3, 'country' = 4, 'entry' = 5, 'retracted' = 6, 'long' = 7);
