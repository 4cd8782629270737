-- Deliveries to webhooks: what is due, whose turn it is to send to an endpoint, and how the endpoint has fared. And jobs of
-- every kind that failed for good, with their reason.

ALTER TABLE webhook_endpoints
  -- The first failure since the last success, and the last one.
  ADD COLUMN failing_since timestamptz,
  ADD COLUMN failed_at     timestamptz,
  -- It asked with Retry-After to be left alone until then.
  ADD COLUMN held_until    timestamptz,
  -- One process sends to it at a time. Once it has ended, the time says when: who waits longest is next.
  ADD COLUMN leased_by     text,
  ADD COLUMN leased_until  timestamptz;

ALTER TABLE webhook_deliveries
  -- How many of the waits between attempts are used up; begins anew when somebody asks for another delivery.
  ADD COLUMN retry_step smallint NOT NULL DEFAULT 0,
  -- Asked for by somebody: sent to a disabled endpoint as well.
  ADD COLUMN by_hand boolean NOT NULL DEFAULT false;

-- A pending one without a time is set aside.
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_endpoint_id, next_attempt_at, id)
  WHERE status = 'pending';

-- Jobs that would only fail again. The queue doesn't hold them: it may lose everything.
CREATE TABLE set_aside_jobs (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job          text NOT NULL,
  -- What it was about; empty where the job is about everything.
  subject      text NOT NULL DEFAULT '',
  reason       text NOT NULL,
  set_aside_at timestamptz NOT NULL DEFAULT now(),
  -- An operator wants it to be tried again: whoever runs such jobs takes the row away and does so.
  retry_asked_at timestamptz,
  UNIQUE (job, subject)
);
