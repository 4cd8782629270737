ALTER TABLE erasures
  -- Version of the fold from when no event was left: rows that were derived earlier go.
  ADD COLUMN cleared_version bigint,
  -- Those are gone, and the cells of their days were marked stale.
  ADD COLUMN is_repaired boolean NOT NULL DEFAULT false;
