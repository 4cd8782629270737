-- Each sign-in deletes what has expired.
CREATE INDEX browser_sessions_expires ON browser_sessions (expires_at);
CREATE INDEX invitations_expires ON invitations (expires_at);
