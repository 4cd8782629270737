-- A delivery is written twice at least, and each time into every index: so it has one fewer, whose work the unique key does.
-- Its workspace is its endpoint's, whose key holds it.
ALTER TABLE webhook_deliveries
  DROP CONSTRAINT webhook_deliveries_webhook_endpoint_id_event_id_key,
  DROP CONSTRAINT webhook_deliveries_workspace_id_fkey,
  ADD UNIQUE (event_id, webhook_endpoint_id);
DROP INDEX webhook_deliveries_event;
