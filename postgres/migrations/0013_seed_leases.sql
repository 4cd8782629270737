-- By a seed or the filling of a demo workspace. Its mark moves once, at the end, and no node ever moves it on.
ALTER TABLE segment_leases_taken ADD COLUMN is_seed boolean NOT NULL DEFAULT false;
