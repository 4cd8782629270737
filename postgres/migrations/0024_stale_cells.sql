-- Days up to `cells_through` that late events came for since their cells were written. Figures of such a day come from
-- `sessions`, until its cells are written anew.
CREATE TABLE stale_cells (
  build integer NOT NULL REFERENCES figure_builds ON DELETE CASCADE,
  day   integer NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (build, day)
);
