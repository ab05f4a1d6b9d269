-- upload_raised: a transaction that nobody mines gives way to one of the same nonce with a higher fee, kept before it goes out.
update uploads set tx_raw = :raw, chain_tx_hash = :hash, tx_replaces = :out, tx_signed_at = :at, updated_at = :at
where learning_id = :learning_id and status = 'tx_submitted' and chain_tx_hash = :replaced
returning id;
