-- An owner may sign in by a password besides links: its argon2id hash, with its parameters and salt. NULL: by links alone.
ALTER TABLE owners ADD COLUMN password_hash text;
