-- What the aggregates in ClickHouse are made of, and up to where: decisions/0007.

-- Every lease of segment numbers, made with it. Rows of `events` of this lease with ids up to `shipped_through` are in
-- ClickHouse or will never be: the node that holds the lease says so after the fact, so it may only be behind.
CREATE TABLE segment_leases_taken (
  first_segment   bigint PRIMARY KEY,
  end_segment     bigint NOT NULL,
  shipped_through bigint NOT NULL,
  taken_at        timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now()
);
-- Those that were taken before: a lease is one step of the sequence and has a million numbers, of 131,072 ids each
-- (schemas/limits.ts).
INSERT INTO segment_leases_taken (first_segment, end_segment, shipped_through)
SELECT lease * 1000000, (lease + 1) * 1000000, lease * 1000000 * 131072 - 1
FROM segment_leases, generate_series(1, CASE WHEN is_called THEN last_value ELSE 0 END) AS lease;

-- Hours whose raw rows were changed behind the marks: the aggregator computes them anew. Hours since 1970.
CREATE TABLE aggregate_repairs (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL,
  hour         bigint NOT NULL,
  recorded_at  timestamptz NOT NULL DEFAULT now()
);

-- Each attempt to write aggregates takes a number, and never takes it again.
CREATE SEQUENCE aggregate_attempts AS bigint START 1;

-- One row: counts the commits, and tells readers that something has changed.
CREATE TABLE aggregate_revision (
  only_row     boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  revision     bigint NOT NULL,
  committed_at timestamptz NOT NULL DEFAULT now(),
  -- Who aggregates at present. Two at once would do no harm but double work: the first to commit has done it.
  claimed_by    text,
  claimed_until timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO aggregate_revision (revision) VALUES (0);

-- Of each lease, the id up to which its rows are in the generations below.
CREATE TABLE aggregate_marks (
  first_segment bigint PRIMARY KEY,
  end_segment   bigint NOT NULL,
  through       bigint NOT NULL
);

-- The generations that make up each UTC day (days since 1970), all of them together; a generation is the number of the
-- attempt that wrote it × 65,536 + its day. `level` 0 was written by a delta, higher ones by merging; `is_whole`: it also
-- has the rows of the whole day. `last_at`: no event counted in it is later (ms).
CREATE TABLE aggregate_generations_live (
  generation bigint PRIMARY KEY,
  day        integer NOT NULL,
  level      smallint NOT NULL,
  is_whole   boolean NOT NULL,
  last_at    bigint NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX aggregate_generations_day ON aggregate_generations_live (day);

-- Generations that have the rows of several whole days merged into one, so that a month is read from a few of them: of
-- `days` days from `first_day` on. Each is made of the whole generations of its days and leaves with the first of them.
CREATE TABLE aggregate_blocks_live (
  generation bigint PRIMARY KEY,
  first_day  integer NOT NULL,
  days       integer NOT NULL
);

-- Generations that were live, and since when they aren't: their rows are deleted once no reader holds an older list.
CREATE TABLE aggregate_generations_left (
  generation bigint PRIMARY KEY,
  left_at    timestamptz NOT NULL DEFAULT now()
);

-- Of these hours of a workspace, generations before this one don't count: they were computed anew in it.
CREATE TABLE aggregate_resets (
  workspace_id integer NOT NULL,
  hour         bigint NOT NULL,
  generation   bigint NOT NULL,
  PRIMARY KEY (workspace_id, hour)
);
