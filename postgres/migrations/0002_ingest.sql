-- What ingest needs of Postgres: numbers for its segments, salts for cookieless visitors, and the inbox of people.

-- A lease of segment numbers is one step of this sequence: its size is segmentLeaseSize in schemas/limits.ts.
CREATE SEQUENCE segment_leases AS bigint START 1;

-- One random salt a UTC day, for visitors without an id; deleted after two days, after which nothing can rebuild the hashes.
CREATE TABLE visitor_salts (
  day        date PRIMARY KEY,
  salt       bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Identify and conversion events with what people are made of: the only place of an e-mail before it is a contact's.
CREATE TABLE inbox (
  event_id     bigint PRIMARY KEY,
  workspace_id integer NOT NULL,
  event_type   text NOT NULL,
  event_name   text NOT NULL,
  email        text,
  anonymous_id text NOT NULL,
  full_name    text NOT NULL,
  properties   jsonb NOT NULL,
  source       text NOT NULL,
  medium       text NOT NULL,
  campaign     text NOT NULL,
  content      text NOT NULL,
  occurred_at  timestamptz NOT NULL,
  received_at  timestamptz NOT NULL,
  copied_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX inbox_emails ON inbox (workspace_id, email, occurred_at) WHERE email IS NOT NULL;
-- For deleting what is past its retention.
CREATE INDEX inbox_age ON inbox (workspace_id, occurred_at);

-- Manifests whose side payloads are in the inbox: written in the same transaction, so that a repeat is seen.
CREATE TABLE shipped_manifests (
  manifest_id bigint PRIMARY KEY,
  shipped_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX shipped_manifests_age ON shipped_manifests USING brin (shipped_at);
