-- A goal may want a value of one of the event's properties, too.
ALTER TABLE goals
  ADD property text,
  -- A text as filters take it.
  ADD property_value text,
  ADD CHECK ((property IS NULL) = (property_value IS NULL)),
  DROP CONSTRAINT goals_workspace_id_kind_value_key;
-- Hashes, as an entry of an index has no room for these texts together.
CREATE UNIQUE INDEX goals_once_each ON goals
  (workspace_id, kind, md5(value), coalesce(md5(property), ''), coalesce(md5(property_value), ''));
