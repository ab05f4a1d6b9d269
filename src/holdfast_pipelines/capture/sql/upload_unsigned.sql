-- upload_unsigned: a transaction that can never be mined is given up; the next signature takes another nonce, or the same.
update uploads set status = 'ipfs_uploaded', tx_raw = null, chain_tx_hash = null, tx_nonce = null, tx_seen_at = null, updated_at = :at
where learning_id = :learning_id and status = 'tx_submitted' and chain_tx_hash = :hash;
