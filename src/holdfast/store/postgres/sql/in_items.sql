-- in_items: an item of a batch as another store had it.
copy job_items (batch, number, job_id, status, result, error) from stdin
