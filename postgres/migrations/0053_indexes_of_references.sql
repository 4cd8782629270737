-- A row that goes is looked for in every table that may refer to it: by index, or each time in the whole table.
CREATE INDEX browser_sessions_account ON browser_sessions (owner_id);
CREATE INDEX browser_sessions_workspace ON browser_sessions (workspace_id);
CREATE INDEX api_keys_account ON api_keys (owner_id);
CREATE INDEX workspaces_account ON workspaces (owner_id);
CREATE INDEX invitations_account ON invitations (invited_by);
CREATE INDEX company_profile_media_media ON company_profile_media (media_id);
CREATE INDEX links_account ON links (social_account_id) WHERE social_account_id IS NOT NULL;
CREATE INDEX post_engagement_account ON post_engagement (social_account_id);

-- Deleted endpoints refer to their workspace as well.
DROP INDEX webhook_endpoints_workspace;
CREATE INDEX webhook_endpoints_workspace ON webhook_endpoints (workspace_id, id);
