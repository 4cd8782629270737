-- When each scheduled job last succeeded, whichever pipeline it ran in: every pipeline tells of it, also after its own restart.
CREATE TABLE job_successes (
  job          text PRIMARY KEY,
  succeeded_at timestamptz NOT NULL DEFAULT now()
);
