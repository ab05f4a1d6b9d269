-- upload_seen: the node has answered about a transaction.
update uploads set tx_seen_at = coalesce(tx_seen_at, :at), updated_at = :at, waits = 0, last_error = null
where learning_id = :learning_id and status = 'tx_submitted' and chain_tx_hash = :hash;
