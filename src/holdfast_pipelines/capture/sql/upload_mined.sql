-- upload_mined: the transaction stands in a block.
update uploads set tx_block = :block, updated_at = :at
where learning_id = :learning_id and status = 'tx_submitted' and chain_tx_hash = :hash and tx_block is not :block;
