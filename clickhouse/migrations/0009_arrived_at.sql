-- When an event was received is read as `arrived_at`. Newer databases keep how long after `occurred_at` that was, and have
-- this column from the beginning (new-database.sql): the version before, which reads `received_at`, couldn't go on with
-- them, so what is stored here stays as it is (docs/operations.md has the way, for when every node has this version).
ALTER TABLE events ADD COLUMN IF NOT EXISTS arrived_at DateTime64(3, 'UTC') ALIAS received_at AFTER received_at;
