-- parked_late: jobs that waited for a person for too long.
select id, auth, queue, type, created_at, attempts from job_queue indexed by job_queue_parked
where status = 'awaiting_auth' and auth_until <= :now
order by auth_until, id
limit :limit
