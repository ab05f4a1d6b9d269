-- held: the leases of one owner, or of all owners of a supervisor (name/...), or of everyone (empty), as their supervisor needs them.
select id, lease_token, lease_owner, lease_until, started_at, cancel_requested_at is not null
from job_queue
where status = 'in_progress'
    and (:owner::text = '' or lease_owner = :owner or left(lease_owner, length(:owner) + 1) = :owner || '/')
