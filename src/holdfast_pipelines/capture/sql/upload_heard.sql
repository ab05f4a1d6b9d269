-- upload_heard: the chain is back; what is waited for now is its blocks.
update uploads set waits = 0, last_error = null, updated_at = :at where learning_id = :learning_id and status = 'tx_submitted';
