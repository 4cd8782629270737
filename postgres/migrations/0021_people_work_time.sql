-- Since when the work has waited, for the queue's metrics.
ALTER TABLE people_work ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
