-- Likes, comments, shares and views of published posts: the newest ones of each target, and when they are read again.
CREATE TABLE post_engagement (
  target_id         bigint PRIMARY KEY REFERENCES post_targets ON DELETE CASCADE,
  social_account_id bigint NOT NULL REFERENCES social_accounts,
  published_at      timestamptz NOT NULL,
  -- NULL: the network doesn't say.
  likes             bigint,
  comments          bigint,
  shares            bigint,
  views             bigint,
  -- NULL: not read yet.
  read_at           timestamptz,
  -- When the network said that it has the post no more.
  gone_at           timestamptz,
  -- Reads that failed in a row.
  failures          smallint NOT NULL DEFAULT 0,
  -- NULL: never again.
  due_at            timestamptz
);
CREATE INDEX post_engagement_due ON post_engagement (social_account_id, due_at) WHERE due_at IS NOT NULL;

-- Until then no figures of the account's posts are read: one process reads them, or its platform said so.
ALTER TABLE social_accounts ADD COLUMN engagement_held_until timestamptz;

-- Posts of before, as far as they are still read.
INSERT INTO post_engagement (target_id, social_account_id, published_at, due_at)
SELECT t.id, a.id, (t.publish_result->>'published_at')::timestamptz, now()
FROM post_targets t JOIN social_accounts a ON a.id = t.social_account_id
WHERE t.status = 'published' AND t.publish_result->>'provider' = a.platform AND a.connection_type <> 'simulated'
  AND (a.platform <> 'linkedin' OR a.external_id LIKE 'urn:li:organization:%')
  AND (t.publish_result->>'published_at')::timestamptz > now() - interval '30 days';
