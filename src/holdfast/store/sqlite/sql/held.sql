-- held: the leases of one owner, or of all owners of a supervisor (name/...), or of everyone (empty), as their supervisor needs them.
select id, lease_token, lease_owner, lease_until, started_at, cancel_requested_at is not null
from job_queue indexed by job_queue_leases
where status = 'in_progress' and (:owner = '' or lease_owner = :owner or substr(lease_owner, 1, length(:owner) + 1) = :owner || '/')
