-- When the platform last said whether it takes the account's credentials: as it was connected, or asked to publish.
ALTER TABLE social_accounts ADD COLUMN checked_at timestamptz;
