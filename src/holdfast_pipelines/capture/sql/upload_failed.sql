-- upload_failed: the upload has failed, if it stands where the verdict was made; what was signed is given up.
update uploads set status = 'failed', tx_raw = null, last_error = :error, updated_at = :at
where learning_id = :learning_id and status = :status and chain_tx_hash is :hash
returning id;
