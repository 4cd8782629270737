-- For ingest: numbers for its segments, salts for visitors without an id, and the inbox of people.

-- A lease of segment numbers is one step of this sequence: its size is segmentLeaseSize in schemas/limits/log-limits.ts.
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
  copied_at    timestamptz NOT NULL DEFAULT now(),
  -- The person is up to date with it.
  is_merged    boolean NOT NULL DEFAULT false
);
-- Payers are looked up by what identify and conversion events said of them.
CREATE INDEX inbox_emails ON inbox (workspace_id, email) WHERE email IS NOT NULL;
-- Cut at identifierLengthMax of schemas/limits/event-limits.ts: the site chooses its length, and an entry of an index has 2,704 bytes.
CREATE INDEX inbox_user_ids ON inbox (workspace_id, (left(properties ->> 'user_id', 254))) WHERE properties ->> 'user_id' IS NOT NULL;
CREATE INDEX inbox_copied ON inbox USING brin (copied_at);
CREATE INDEX inbox_unmerged ON inbox (event_id) WHERE NOT is_merged;
-- For deleting what is past its retention.
CREATE INDEX inbox_age ON inbox (workspace_id, occurred_at);

-- Manifests whose side payloads are in the inbox: written in the same transaction, so that a repeat is seen.
CREATE TABLE shipped_manifests (
  manifest_id bigint PRIMARY KEY,
  shipped_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX shipped_manifests_age ON shipped_manifests USING brin (shipped_at);

-- When each e-mail was first and last seen in a workspace. The inbox forgets rows by their age, and a contact that it forgot
-- would be new again. Kept no longer than the last row that it was seen in. The hash is there to hold no address in yet
-- another place; it is no secret.
CREATE TABLE contact_sightings (
  workspace_id integer NOT NULL,
  email_hash   bytea NOT NULL,
  first_seen   timestamptz NOT NULL,
  last_seen    timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, email_hash)
);
CREATE INDEX contact_sightings_first ON contact_sightings (workspace_id, first_seen);
