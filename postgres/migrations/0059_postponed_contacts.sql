-- Contacts that a refresh didn't get to. Those beside them came along already, and aren't computed once more.
ALTER TABLE people_work ADD COLUMN is_postponed boolean NOT NULL DEFAULT false;
