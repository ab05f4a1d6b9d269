-- upload_again: an upload that has failed is tried once more, on request.
update uploads set status = 'pending', ipfs_cid = null, chain_tx_hash = null, waits = 0, last_error = null, updated_at = :at
where learning_id = :learning_id and status = 'failed';
