-- Scopes beyond the operation's own that an answer was given by: a repeat needs them, too (decision 0050).
ALTER TABLE idempotency_records ADD COLUMN scopes text[] NOT NULL DEFAULT '{}';
