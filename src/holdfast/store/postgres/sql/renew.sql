-- renew: extend leases, but only for the worker that still holds them. An expired lease nobody took is still held.
update job_queue as j set lease_until = :until::timestamptz
from unnest(:ids::text[], :tokens::integer[]) as h (id, token)
where j.id = h.id and j.lease_token = h.token and j.lease_owner is not null and j.lease_until is not null
returning j.id, j.lease_token
