-- By which people recognise the browsers that are signed in to their account.
ALTER TABLE browser_sessions
  -- `Firefox on Linux`, as its User-Agent said at the sign-in. NULL: unknown.
  ADD COLUMN browser text,
  -- To ten minutes. NULL: not since the column is there.
  ADD COLUMN last_used_at timestamptz;
