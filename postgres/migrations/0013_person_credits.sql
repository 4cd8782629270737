-- Credits by the person: conversions in a browser have one too, where the touches of their contact say another than the
-- browser's own. An empty source: the touch of the browser isn't the person's.
ALTER TABLE server_credits RENAME TO person_credits;
ALTER INDEX server_credits_hour RENAME TO person_credits_hour;
ALTER INDEX server_credits_contact RENAME TO person_credits_contact;
-- Of the conversion; 0: a server event.
ALTER TABLE person_credits ADD COLUMN visitor numeric(20) NOT NULL DEFAULT 0;
ALTER TABLE person_credits ALTER COLUMN visitor DROP DEFAULT;
-- Whose touch it is; 0: a server's event.
ALTER TABLE person_credits ADD COLUMN touched_by numeric(20) NOT NULL DEFAULT 0;
ALTER TABLE person_credits ALTER COLUMN touched_by DROP DEFAULT;

-- Only this visitor's rows are derived anew (0: those of server events); null: those of all visitors of the hour.
ALTER TABLE event_repairs ADD COLUMN visitor numeric(20);
UPDATE event_repairs SET visitor = 0 WHERE of_servers;
ALTER TABLE event_repairs DROP COLUMN of_servers;

-- Credits of the conversions that came before.
INSERT INTO people_work (workspace_id, contact_id)
SELECT workspace_id, contact_id FROM bindings JOIN inbox USING (workspace_id, anonymous_id) WHERE event_type = 'conversion'
UNION SELECT workspace_id, contact_id FROM person_credits;
