ALTER TABLE erasures
  -- Days whose cells are to be written anew: each once, as folds may make any of them stale again.
  ADD COLUMN days_left jsonb NOT NULL DEFAULT '[]',
  -- Its last step didn't come to its end. Others may then go before it.
  ADD COLUMN is_failing boolean NOT NULL DEFAULT false;
