-- Sums of bot visits, kept by ClickHouse within each part of the table: committed with its rows, or not at all, and so always
-- the same as they say. A query that asks for no more than these is answered from them (queries/bot-visits.ts).
ALTER TABLE bot_visits ADD PROJECTION IF NOT EXISTS sums_of_bots
(
    SELECT
        workspace_id,
        toStartOfFifteenMinutes(occurred_at),
        bot_name,
        operator,
        category,
        verified,
        count(),
        max(occurred_at)
    GROUP BY
        workspace_id,
        toStartOfFifteenMinutes(occurred_at),
        bot_name,
        operator,
        category,
        verified
);

ALTER TABLE bot_visits ADD PROJECTION IF NOT EXISTS sums_of_pages
(
    SELECT
        workspace_id,
        toDate(occurred_at, 'UTC'),
        path,
        count(),
        max(occurred_at)
    GROUP BY
        workspace_id,
        toDate(occurred_at, 'UTC'),
        path
);

-- States of sets, which can be united with those of other rows.
ALTER TABLE bot_visits ADD PROJECTION IF NOT EXISTS pages_of_bots
(
    SELECT
        workspace_id,
        toDate(occurred_at, 'UTC'),
        bot_name,
        operator,
        category,
        verified,
        uniqCombined64State(18)(path)
    GROUP BY
        workspace_id,
        toDate(occurred_at, 'UTC'),
        bot_name,
        operator,
        category,
        verified
);

-- Of rows that are there already; until it is done, they are counted themselves.
ALTER TABLE bot_visits MATERIALIZE PROJECTION sums_of_bots SETTINGS mutations_sync = 0;
ALTER TABLE bot_visits MATERIALIZE PROJECTION sums_of_pages SETTINGS mutations_sync = 0;
ALTER TABLE bot_visits MATERIALIZE PROJECTION pages_of_bots SETTINGS mutations_sync = 0;
