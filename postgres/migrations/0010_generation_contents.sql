-- What a generation holds, whichever others it was merged of: the number of the attempt that brought the `newest` of it, and of how
-- many unmerged ones it is made. Later attempts have higher numbers: up to one of them a reader has what it had as long as the parts
-- are as many.
ALTER TABLE aggregate_generations_live
  ADD COLUMN newest bigint NOT NULL DEFAULT 0,
  ADD COLUMN parts  integer NOT NULL DEFAULT 1;
UPDATE aggregate_generations_live SET newest = generation / 65536;
