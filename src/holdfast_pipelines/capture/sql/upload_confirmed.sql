-- upload_confirmed: the upload is done.
update uploads set status = 'confirmed', chain_tx_hash = :hash, tx_raw = null, tx_block = :block, confirmed_at = :at, updated_at = :at,
  waits = 0, last_error = null
where learning_id = :learning_id and status in ('ipfs_uploaded', 'tx_submitted');
