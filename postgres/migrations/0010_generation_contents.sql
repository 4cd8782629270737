-- What a generation holds, whichever others it was merged of: `revision` of the commit that brought the newest of it, and of how
-- many unmerged ones it is made. Up to a revision readers have what they had before as long as the parts are as many.
ALTER TABLE aggregate_generations_live
  ADD COLUMN revision bigint NOT NULL DEFAULT 0,
  ADD COLUMN parts    integer NOT NULL DEFAULT 1;
