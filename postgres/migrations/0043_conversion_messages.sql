-- Recipients who are told of conversions, and of payments and refunds.
ALTER TABLE report_recipients
  ADD COLUMN conversions boolean NOT NULL DEFAULT false,
  ADD COLUMN payments boolean NOT NULL DEFAULT false,
  -- The events whose conversions are told; empty: all.
  ADD COLUMN conversion_names text[] NOT NULL DEFAULT '{}',
  -- A channel's row without `every` is for one of the four.
  DROP CONSTRAINT report_recipients_content,
  ADD CONSTRAINT report_recipients_content CHECK (every IS NOT NULL
    OR (channel_id IS NOT NULL AND alerts::int + failures::int + conversions::int + payments::int = 1));
DROP INDEX report_recipients_channel;
CREATE UNIQUE INDEX report_recipients_channel
  ON report_recipients (channel_id, coalesce(every, CASE WHEN alerts THEN 'alerts' WHEN failures THEN 'failures'
    WHEN conversions THEN 'conversions' ELSE 'payments' END))
  WHERE channel_id IS NOT NULL;
-- Each round of people asks for the first, each payment for the second.
CREATE INDEX report_recipients_conversions ON report_recipients (workspace_id) WHERE conversions;
CREATE INDEX report_recipients_payments ON report_recipients (workspace_id) WHERE payments;

-- The queue has their messages, too, of the kind `conversions`. The row stays after a message: `due_at` is when the next one may go.
ALTER TABLE alert_mails
  -- The content of the next message: counts, the first ones, and since when.
  ADD COLUMN gathered jsonb,
  -- The content of the message under way. It stays the same for each attempt.
  ADD COLUMN taken jsonb,
  -- How many were told of by no message.
  ADD COLUMN left_out integer NOT NULL DEFAULT 0,
  -- Messages of a UTC day.
  ADD COLUMN sent_on date,
  ADD COLUMN sent_times integer NOT NULL DEFAULT 0;
