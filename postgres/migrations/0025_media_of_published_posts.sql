-- A published or archived post keeps the ids of media that were deleted since. Posts take up existing media alone:
-- `readPostedMedia` locks them, and a deletion waits for that.
ALTER TABLE post_media DROP CONSTRAINT post_media_media_id_fkey;
