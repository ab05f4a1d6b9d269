-- parked_late: jobs that waited for a person for too long; one that another has in hand is left to the next time.
select id, auth, queue, type, created_at, attempts from job_queue
where status = 'awaiting_auth' and auth_until <= :now::timestamptz
order by auth_until, id
limit :limit
for update skip locked
