-- Files of each part of a thread, as many as of a post alone: those of the caption are of part 0, those of `thread[n]` of part n.
ALTER TABLE post_media ADD COLUMN part smallint NOT NULL DEFAULT 0;
ALTER TABLE post_media DROP CONSTRAINT post_media_pkey, ADD PRIMARY KEY (post_id, part, place);
-- Texts by platform in place of those of `thread`: for each a dictionary, which is empty where its text is for all.
ALTER TABLE posts ADD COLUMN thread_captions jsonb NOT NULL DEFAULT '[]';
