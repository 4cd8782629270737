-- A second factor of an account: codes of an authenticator app (RFC 6238) besides the password, and recovery codes for one that is lost.
CREATE TABLE second_factors (
  owner_id   bigint PRIMARY KEY REFERENCES owners ON DELETE CASCADE,
  -- The secret that the app has as well, encrypted.
  sealed     bytea NOT NULL,
  created_at timestamptz NOT NULL,
  -- When its first code was right. NULL: it is being set up, and nothing asks for it.
  enabled_at timestamptz,
  -- The number of the 30 seconds whose code was used last: no code of it or before is taken again.
  last_step  bigint NOT NULL DEFAULT 0
);

-- Those that weren't used: only the SHA-256 of a code, which has 80 random bits.
CREATE TABLE recovery_codes (
  owner_id bigint NOT NULL REFERENCES second_factors ON DELETE CASCADE,
  hash     bytea NOT NULL,
  PRIMARY KEY (owner_id, hash)
);

-- Sign-ins whose password was right and whose code is awaited: only the SHA-256 of the token that the browser has in a cookie.
CREATE TABLE sign_in_steps (
  hash       bytea PRIMARY KEY,
  owner_id   bigint NOT NULL REFERENCES owners ON DELETE CASCADE,
  expires_at timestamptz NOT NULL,
  tries      smallint NOT NULL DEFAULT 0
);
CREATE INDEX sign_in_steps_account ON sign_in_steps (owner_id);
