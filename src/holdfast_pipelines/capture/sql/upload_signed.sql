-- upload_signed: a signed transaction is kept, before it goes out.
update uploads set status = 'tx_submitted', tx_raw = :raw, tx_replaces = null, chain_tx_hash = :hash, tx_nonce = :nonce, tx_chain = :chain,
  tx_contract = :contract, tx_account = :account, tx_signed_at = :at, tx_seen_at = null, tx_block = null, updated_at = :at,
  waits = 0, last_error = null
where learning_id = :learning_id and status = 'ipfs_uploaded';
