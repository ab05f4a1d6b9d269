-- upload_nonce: the lowest nonce from the chain's own count up that no signature of ours holds.
with recursive tried (nonce) as (
  select :floor
  union all
  select nonce + 1 from tried
  where exists (
    select 1 from uploads
    where tx_raw is not null and tx_chain = :chain and tx_account = :account and tx_nonce = tried.nonce
  )
)
select max(nonce) from tried;
