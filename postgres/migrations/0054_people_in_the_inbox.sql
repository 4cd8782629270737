-- The newest row of a user id says whose payments are. Without its time in the index all rows of the workspace were read by time.
DROP INDEX inbox_user_ids;
CREATE INDEX inbox_user_ids ON inbox (workspace_id, (left(properties ->> 'user_id', 254)), occurred_at, event_id)
  WHERE properties ->> 'user_id' IS NOT NULL;
-- An erasure looks for rows without an e-mail by their browser.
CREATE INDEX inbox_browsers ON inbox (workspace_id, anonymous_id) WHERE email IS NULL;
