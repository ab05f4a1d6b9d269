-- upload_unseen: a signature that has not reached the node: its upload must be helped on before the account signs again.
select learning_id from uploads where tx_raw is not null and tx_seen_at is null and tx_chain = :chain and tx_account = :account;
