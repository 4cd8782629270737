-- People: contacts, the facts by which browsers are theirs, and what is to be computed again of them (pipeline/people).

-- Finds a part of a text by index.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- Times are milliseconds since 1970 UTC, as those of events. Traits: the newest value that isn't empty, with its time.
CREATE TABLE contacts (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id  integer NOT NULL,
  -- Trimmed and lower-cased.
  email         text NOT NULL,
  -- As in `events`.
  email_hash    numeric(20) NOT NULL,
  full_name     text NOT NULL DEFAULT '',
  full_name_at  bigint NOT NULL DEFAULT 0,
  company       text NOT NULL DEFAULT '',
  company_at    bigint NOT NULL DEFAULT 0,
  user_id       text NOT NULL DEFAULT '',
  user_id_at    bigint NOT NULL DEFAULT 0,
  -- By identify and conversion events with the e-mail.
  first_identified_at bigint NOT NULL,
  last_identified_at  bigint NOT NULL,
  -- From here on computed from events after each fold (pipeline/people/refresh.ts).
  first_seen_at    bigint NOT NULL,
  last_seen_at     bigint NOT NULL,
  -- The time of the oldest event that is counted.
  oldest_event_at  bigint,
  session_count    integer NOT NULL DEFAULT 0,
  event_count      integer NOT NULL DEFAULT 0,
  conversion_count integer NOT NULL DEFAULT 0,
  first_touch_at   bigint,
  first_source     text NOT NULL DEFAULT '',
  first_medium     text NOT NULL DEFAULT '',
  first_campaign   text NOT NULL DEFAULT '',
  first_content    text NOT NULL DEFAULT '',
  last_touch_at    bigint,
  source           text NOT NULL DEFAULT '',
  medium           text NOT NULL DEFAULT '',
  campaign         text NOT NULL DEFAULT '',
  content          text NOT NULL DEFAULT '',
  -- A line each: a search doesn't reach over two of them. Without a touch the source is shown as `direct`.
  searched text GENERATED ALWAYS AS (
    lower(email || E'\n' || full_name || E'\n' || company || E'\n' || coalesce(nullif(source, ''), 'direct') || E'\n' || campaign)) STORED,
  UNIQUE (workspace_id, email)
);
CREATE INDEX contacts_email_hash ON contacts (workspace_id, email_hash);
CREATE INDEX contacts_seen ON contacts (workspace_id, last_seen_at, id);
CREATE INDEX contacts_oldest_event ON contacts (workspace_id, oldest_event_at, id);
CREATE INDEX contacts_user_id ON contacts (workspace_id, user_id) WHERE user_id != '';
CREATE INDEX contacts_searched ON contacts USING gin (searched gin_trgm_ops);

-- Each identify or conversion that named a browser and an e-mail. Kept as long as the inbox is, and of each browser the last
-- one before that: it says whose the browser was then.
CREATE TABLE identity_facts (
  workspace_id integer NOT NULL,
  anonymous_id text NOT NULL,
  at           bigint NOT NULL,
  event_id     bigint NOT NULL,
  contact_id   bigint NOT NULL REFERENCES contacts ON DELETE CASCADE,
  PRIMARY KEY (workspace_id, anonymous_id, at, event_id)
);
CREATE INDEX identity_facts_contact ON identity_facts (contact_id, anonymous_id, at, event_id);

-- Whose a browser's events are, from an event's time and id up to the next row of the browser: a function of the facts
-- (pipeline/people/bind.ts). A browser's first row begins at 0.
CREATE TABLE bindings (
  workspace_id integer NOT NULL,
  anonymous_id text NOT NULL,
  visitor      numeric(20) NOT NULL,
  from_at      bigint NOT NULL,
  from_id      bigint NOT NULL,
  contact_id   bigint NOT NULL REFERENCES contacts ON DELETE CASCADE,
  PRIMARY KEY (workspace_id, anonymous_id, from_at, from_id)
);
CREATE INDEX bindings_visitor ON bindings (workspace_id, visitor);
CREATE INDEX bindings_contact ON bindings (contact_id);

-- Credits by the person: conversions that a touch of their contact is credited with. Those of server events have one, and in
-- a browser those for which the contact's touches say another than the browser's own. Computed with the contact's figures
-- (pipeline/people). The fold derives rows from it, so whoever changes a row here has its hour derived anew.
CREATE TABLE person_credits (
  event_id     bigint PRIMARY KEY,
  workspace_id integer NOT NULL,
  -- The conversion's: UTC, since 1970.
  hour         bigint NOT NULL,
  contact_id   bigint NOT NULL REFERENCES contacts ON DELETE CASCADE,
  -- Empty: the touch of the browser isn't the person's.
  source       text NOT NULL,
  medium       text NOT NULL,
  -- Milliseconds since 1970.
  touched_at   bigint NOT NULL,
  -- The conversion's; 0: a server event.
  visitor      numeric(20) NOT NULL,
  -- Whose touch it is; 0: a server's event.
  touched_by   numeric(20) NOT NULL
);
CREATE INDEX person_credits_hour ON person_credits (workspace_id, hour);
CREATE INDEX person_credits_contact ON person_credits (contact_id);

-- Work to do after a fold: a contact's figures, a visitor's events of the past, a repaired hour.
CREATE TABLE people_work (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL,
  contact_id   bigint,
  visitor      numeric(20),
  hour         bigint,
  -- Since when the work has waited, for the queue's metrics.
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX people_work_contact ON people_work (contact_id) WHERE contact_id IS NOT NULL;

-- Contacts that got a browser: webhooks are told of one whose browser already had events. Which events there were is
-- known once all that were answered before the row are folded.
CREATE TABLE untold_merges (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL,
  anonymous_id text NOT NULL,
  visitor      numeric(20) NOT NULL,
  contact_id   bigint NOT NULL REFERENCES contacts ON DELETE CASCADE,
  -- Not when the transaction began: the event that binds was answered before this.
  bound_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX untold_merges_contact ON untold_merges (contact_id);

-- One row: the ranges of ids of events that people reflect.
CREATE TABLE people_state (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  done     jsonb NOT NULL
);
INSERT INTO people_state (done) VALUES ('[]');

-- People who are to be forgotten: what was sent of them until then is removed everywhere, and what comes to the inbox late as
-- well. Hashes alone; a row goes some days after it was done.
CREATE TABLE erasures (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL,
  email_hash   numeric(20),
  -- Times of browsers: visitor, and from and to which event's time and id they are the person's.
  browsers     jsonb NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  done_at      timestamptz,
  -- When it was begun last: one that fails gives way to the others.
  tried_at     timestamptz,
  -- Visitors and hours whose events are to be removed: kept before the first is, so that a repeat knows them.
  places       jsonb,
  -- Events that were removed.
  events       bigint NOT NULL DEFAULT 0
);
CREATE INDEX erasures_waiting ON erasures (id) WHERE done_at IS NULL;
