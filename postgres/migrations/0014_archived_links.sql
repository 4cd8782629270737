-- Links that lists leave out. They redirect as before: what was posted or printed goes on.

ALTER TABLE links ADD COLUMN archived_at timestamptz;
