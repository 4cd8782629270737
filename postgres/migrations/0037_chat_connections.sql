-- Channels on Telegram are published to by a bot's token, those on Discord by the address of a webhook.
ALTER TABLE social_accounts DROP CONSTRAINT social_accounts_connection_type_check;
ALTER TABLE social_accounts ADD CONSTRAINT social_accounts_connection_type_check
  CHECK (connection_type IN ('simulated', 'oauth', 'app_password', 'bot_token', 'webhook'));
