-- Conversions of server events that a touch of their contact is credited with. Computed with the contact's figures
-- (pipeline/people); the fold derives rows from it, so whoever changes a row here has its hour derived anew.
CREATE TABLE server_credits (
  event_id     bigint PRIMARY KEY,
  workspace_id integer NOT NULL,
  -- Of the conversion: UTC, since 1970.
  hour         bigint NOT NULL,
  contact_id   bigint NOT NULL REFERENCES contacts ON DELETE CASCADE,
  source       text NOT NULL,
  medium       text NOT NULL,
  -- Milliseconds since 1970.
  touched_at   bigint NOT NULL
);
CREATE INDEX server_credits_hour ON server_credits (workspace_id, hour);
CREATE INDEX server_credits_contact ON server_credits (contact_id);

-- Only the rows of server events are derived anew.
ALTER TABLE event_repairs ADD COLUMN of_servers boolean NOT NULL DEFAULT false;

-- Credits of the conversions that came before.
INSERT INTO people_work (workspace_id, contact_id)
SELECT DISTINCT contacts.workspace_id, contacts.id
FROM contacts JOIN inbox USING (workspace_id, email)
WHERE event_type = 'conversion' AND anonymous_id = '';
