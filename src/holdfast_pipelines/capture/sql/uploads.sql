-- uploads: the newest uploads.
select learning_id, status, ipfs_cid, chain_tx_hash, last_error, created_at, updated_at, confirmed_at
from uploads where :status is null or status = :status order by created_at desc, id desc limit :limit;
