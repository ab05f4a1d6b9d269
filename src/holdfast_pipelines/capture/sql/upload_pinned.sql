-- upload_pinned: the node keeps the document.
update uploads set status = 'ipfs_uploaded', ipfs_cid = :cid, uploaded_at = :at, updated_at = :at, waits = 0, last_error = null
where learning_id = :learning_id and status = 'pending';
