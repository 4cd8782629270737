-- A day of a campaign has one currency: of several the one that was imported last stays.
DELETE FROM ad_spend s USING ad_spend other
WHERE other.workspace_id = s.workspace_id AND other.day = s.day AND other.source = s.source AND other.campaign = s.campaign
  AND (other.import_day, other.currency) > (s.import_day, s.currency);
ALTER TABLE ad_spend DROP CONSTRAINT ad_spend_pkey, ADD PRIMARY KEY (workspace_id, day, source, campaign);

-- Who paid was erased: what the payment is credited to stays, whatever comes of it later.
ALTER TABLE revenue_payments ADD COLUMN is_payer_erased boolean NOT NULL DEFAULT false;
-- Those that were erased before: credited for good, without a session. Some of a server's touch are alike, and lose nothing.
UPDATE revenue_payments SET is_payer_erased = true
WHERE credit_due_at IS NULL AND rule != 'none' AND visitor IS NULL AND session IS NULL;

CREATE INDEX contacts_user_id ON contacts (workspace_id, user_id) WHERE user_id != '';
