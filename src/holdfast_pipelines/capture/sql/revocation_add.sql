-- revocation_add: a learning is not to be shared any more.
insert into revocations (id, learning_id, ipfs_cid, revoked_at, reason)
values (:id, :learning_id, (select ipfs_cid from uploads where learning_id = :learning_id), :at, :reason);
