-- renew: extend a lease, but only for the worker that still holds it. An expired lease nobody took is still held.
update job_queue set lease_until = :until where id = :id and lease_token = :token and status = 'in_progress'
