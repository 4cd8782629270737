-- How far the rows derived from `events` (sessions, visitors, cells, credits) are: decisions/0007.

-- Every lease of segment numbers, made with it. Rows of `events` of this lease with ids up to `shipped_through` are in
-- ClickHouse or will never be. The node that holds the lease says so after the fact, so it may only be behind.
-- Every event that the node answered 202 before `complete_at` (this server's clock) is among them.
CREATE TABLE segment_leases_taken (
  first_segment   bigint PRIMARY KEY,
  end_segment     bigint NOT NULL,
  shipped_through bigint NOT NULL,
  taken_at        timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  complete_at     timestamptz NOT NULL DEFAULT '-infinity',
  -- By an import, whose inserts are made one after another: another import of the same rows may move its mark on.
  is_import       boolean NOT NULL DEFAULT false
);

-- Hours (since 1970) whose events were changed behind the marks: a fold takes up their visitors again.
CREATE TABLE event_repairs (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL,
  hour         bigint NOT NULL,
  recorded_at  timestamptz NOT NULL DEFAULT now(),
  -- Only this visitor's rows are derived anew (0: those of server events); null: those of all visitors of the hour.
  visitor      numeric(20)
);

-- Versions of derived rows. A fold takes one before it reads `events`, so a later fold writes higher versions.
CREATE SEQUENCE fold_versions AS bigint START 1;

-- One row: the last fold that is written, and who may write the next one.
CREATE TABLE fold_state (
  only_row      boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version       bigint NOT NULL,
  as_of         timestamptz NOT NULL DEFAULT '-infinity',
  written_at    timestamptz NOT NULL DEFAULT now(),
  leased_by     text,
  leased_until  timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO fold_state (version) VALUES (0);

-- For each lease of segment numbers, the id up to which its events are folded.
CREATE TABLE fold_marks (
  first_segment bigint PRIMARY KEY,
  end_segment   bigint NOT NULL,
  through       bigint NOT NULL
);

CREATE SEQUENCE figure_builds_numbers AS integer START 1;

-- A workspace's derived rows, built for one timezone. A rebuild writes a new build beside the current one and then takes
-- its place. `cells_through`: the last local day (since 1970) that has cells; NULL: none has.
CREATE TABLE figure_builds (
  build         integer PRIMARY KEY,
  workspace_id  integer NOT NULL,
  timezone      text NOT NULL,
  state         text NOT NULL CHECK (state IN ('current', 'building', 'left')),
  -- The aim of the build: 'figures' takes the current one's place, 'check' is compared with it.
  purpose       text NOT NULL DEFAULT 'figures' CHECK (purpose IN ('figures', 'check')),
  cells_through integer,
  -- Grows when a day's cells become stale (`stale_cells`): a reader that finds another number afterwards asks again.
  cells_changes integer NOT NULL DEFAULT 0,
  -- Parts (of the visitors) that a build in progress has done.
  parts_done    integer NOT NULL DEFAULT 0,
  parts         integer NOT NULL DEFAULT 0,
  -- Once a check is over: how many days differ.
  differences   integer,
  changed_at    timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX figure_builds_current ON figure_builds (workspace_id) WHERE state = 'current';
CREATE INDEX figure_builds_workspace ON figure_builds (workspace_id, state);

-- Days up to `cells_through` that late events came for since their cells were written. Figures of such a day come from
-- `sessions`, until its cells are written anew.
CREATE TABLE stale_cells (
  build integer NOT NULL REFERENCES figure_builds ON DELETE CASCADE,
  day   integer NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (build, day)
);
