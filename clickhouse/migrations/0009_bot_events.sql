-- A crawler that runs a page's script sends several events for one visit. 'track_event' marks those that are no page view:
-- they are kept, and no figure counts them. The sums have the column as a key, so that they can leave them out.
ALTER TABLE bot_visits MODIFY COLUMN reported_by Enum8('track' = 1, 'bots_endpoint' = 2, 'track_event' = 3) CODEC(ZSTD(1));

ALTER TABLE bot_visits DROP PROJECTION IF EXISTS sums_of_bots SETTINGS mutations_sync = 1;
ALTER TABLE bot_visits DROP PROJECTION IF EXISTS sums_of_pages SETTINGS mutations_sync = 1;
ALTER TABLE bot_visits DROP PROJECTION IF EXISTS pages_of_bots SETTINGS mutations_sync = 1;

ALTER TABLE bot_visits ADD PROJECTION IF NOT EXISTS sums_of_bots
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
);

ALTER TABLE bot_visits ADD PROJECTION IF NOT EXISTS sums_of_pages
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
);

ALTER TABLE bot_visits ADD PROJECTION IF NOT EXISTS pages_of_bots
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
);

-- Of rows that are there already; until it is done, they are counted themselves.
ALTER TABLE bot_visits MATERIALIZE PROJECTION sums_of_bots SETTINGS mutations_sync = 0;
ALTER TABLE bot_visits MATERIALIZE PROJECTION sums_of_pages SETTINGS mutations_sync = 0;
ALTER TABLE bot_visits MATERIALIZE PROJECTION pages_of_bots SETTINGS mutations_sync = 0;
