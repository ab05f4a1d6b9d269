-- held: the leases of owners whose names begin so, as their supervisor needs them.
select id, lease_token, lease_owner, lease_until, started_at, cancel_requested_at is not null
from job_queue indexed by job_queue_leases
where status = 'in_progress' and substr(lease_owner, 1, length(:owner)) = :owner
