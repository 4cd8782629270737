-- A changed credit leaves a visitor's rows in place: one with too many events keeps them.
ALTER TABLE event_repairs ADD COLUMN lacks_rows boolean NOT NULL DEFAULT true;
