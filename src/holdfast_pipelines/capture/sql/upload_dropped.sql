-- upload_dropped: the upload is not wanted any more.
update uploads set status = 'dropped', last_error = :error, updated_at = :at
where learning_id = :learning_id and status in ('pending', 'ipfs_uploaded', 'failed');
