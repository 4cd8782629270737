-- Erasures look for what webhooks are to be told of a person, and for what receivers answered to it.
CREATE INDEX outbox_emails ON outbox (workspace_id, (object ->> 'email')) WHERE type LIKE 'contact.%';
CREATE INDEX outbox_conversions ON outbox (workspace_id, (object ->> 'id')) WHERE type = 'conversion.recorded';
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);
