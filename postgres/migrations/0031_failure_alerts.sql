-- Recipients who are told of posts that failed and of accounts that need to be connected again.
ALTER TABLE report_recipients
  ADD COLUMN failures boolean NOT NULL DEFAULT false,
  -- A channel's row without `every` is for one of the two.
  DROP CONSTRAINT report_recipients_check1,
  ADD CONSTRAINT report_recipients_content CHECK (every IS NOT NULL OR (channel_id IS NOT NULL AND alerts <> failures));
DROP INDEX report_recipients_channel;
CREATE UNIQUE INDEX report_recipients_channel
  ON report_recipients (channel_id, coalesce(every, CASE WHEN alerts THEN 'alerts' ELSE 'failures' END))
  WHERE channel_id IS NOT NULL;

-- The queue has their messages, too: of the kinds `post` and `account`.
ALTER TABLE alert_mails
  -- The post or account; 0 for traffic.
  ADD COLUMN subject_id bigint NOT NULL DEFAULT 0,
  -- Null for traffic: `traffic_alerts` has it.
  ADD COLUMN told_at timestamptz,
  DROP CONSTRAINT alert_mails_pkey,
  ADD PRIMARY KEY (recipient_id, kind, subject_id);
