-- upload: one upload, by the id of its learning.
select id, learning_id, document, ipfs_cid, chain_tx_hash, status, tx_chain, tx_contract, tx_account, tx_nonce, tx_raw, tx_replaces,
  tx_signed_at, tx_seen_at, tx_block, begun_at, waits, last_error, created_at, updated_at, uploaded_at, confirmed_at
from uploads where learning_id = :learning_id;
