-- upload_add: an approved learning is to be shared; one that was dropped, or has failed, starts anew.
insert into uploads (id, learning_id, document, created_at, updated_at) values (:id, :learning_id, :document, :at, :at)
on conflict (learning_id) do update set
  document = excluded.document, status = 'pending', ipfs_cid = null, chain_tx_hash = null, begun_at = null, waits = 0, last_error = null,
  updated_at = excluded.updated_at, uploaded_at = null
where uploads.status in ('dropped', 'failed');
