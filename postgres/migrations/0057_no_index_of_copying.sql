-- Nothing looks for rows by when they were copied: the oldest that waits is found among those that wait.
DROP INDEX inbox_copied;
