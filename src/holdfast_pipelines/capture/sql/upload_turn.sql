-- upload_turn: the turn to sign, for one who has seen the newest signature, while all that were made have reached the node.
update upload_accounts set signatures = signatures + 1
where chain = :chain and account = :account and signatures = :signatures
  and exists (select 1 from uploads where learning_id = :learning_id and status = 'ipfs_uploaded')
  and not exists (
    select 1 from uploads where tx_raw is not null and tx_seen_at is null and tx_chain = :chain and tx_account = :account
  )
returning signatures;
