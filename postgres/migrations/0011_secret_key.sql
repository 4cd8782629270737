-- Tells SECRET_KEY from another one: a keyed hash, from which the key can't be computed. One row, written by the first start.
CREATE TABLE secret_key_check (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  hash    text NOT NULL
);
