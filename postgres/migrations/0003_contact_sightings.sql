-- When each e-mail was first and last seen in a workspace: the inbox forgets rows by their age, and a contact that it forgot
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

INSERT INTO contact_sightings
SELECT workspace_id, substring(sha256(convert_to(workspace_id || ':' || email, 'UTF8')) for 16),
       min(occurred_at), max(occurred_at)
FROM inbox WHERE email IS NOT NULL GROUP BY 1, 2;

-- First sightings were looked up by it.
DROP INDEX inbox_emails;
