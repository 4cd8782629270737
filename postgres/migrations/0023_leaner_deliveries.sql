-- A delivery is written twice at least, and each time into every index: so it has one fewer, whose work the unique key does.
-- That key can't check what refers to an endpoint. Endpoints are deleted after their deliveries, with their workspace.
ALTER TABLE webhook_deliveries
  DROP CONSTRAINT webhook_deliveries_webhook_endpoint_id_event_id_key,
  DROP CONSTRAINT webhook_deliveries_webhook_endpoint_id_fkey,
  ADD UNIQUE (event_id, webhook_endpoint_id);
DROP INDEX webhook_deliveries_event;
