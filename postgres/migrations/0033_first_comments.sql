-- The comment that is published under the post, on platforms whose posts have comments of their account.
ALTER TABLE posts ADD COLUMN first_comment text;
