-- How far the publishing of each target is, and the credentials of accounts.

ALTER TABLE post_targets
  -- Names this target to the platform: a repeat under it is the same publication.
  ADD COLUMN publish_key     uuid NOT NULL DEFAULT gen_random_uuid(),
  -- Attempts that failed since the post was due.
  ADD COLUMN attempt_count   smallint NOT NULL DEFAULT 0,
  -- When a target that is `publishing` may be claimed: the next attempt, or the end of a claim.
  ADD COLUMN next_attempt_at timestamptz,
  -- The process that holds the claim.
  ADD COLUMN claimed_by      uuid,
  -- When the platform was first asked to publish it. From then on it may be published, whatever we know of it.
  ADD COLUMN sent_at         timestamptz;

CREATE INDEX post_targets_waiting ON post_targets (next_attempt_at) WHERE status = 'publishing';

-- By these posts are published: a platform's token, or an app password with its session. Encrypted.
CREATE TABLE social_account_credentials (
  social_account_id bigint PRIMARY KEY REFERENCES social_accounts,
  sealed            bytea NOT NULL,
  -- Raised by each change: whoever renews a session goes by the one that it read.
  version           integer NOT NULL DEFAULT 1,
  updated_at        timestamptz NOT NULL DEFAULT now()
);
