-- A post that is deleted leaves its links, which are looked up by it.
CREATE INDEX links_post ON links (post_id) WHERE post_id IS NOT NULL;
