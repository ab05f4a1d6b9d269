-- upload_waits: why an upload does not get on now.
update uploads set waits = waits + 1, last_error = :error, updated_at = :at
where learning_id = :learning_id and status not in ('confirmed', 'dropped')
returning waits;
