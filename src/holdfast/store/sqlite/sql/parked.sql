-- parked: jobs of a tenant that wait for a person, under one key or in one group, page by page.
select id from job_queue indexed by job_queue_parked
where status = 'awaiting_auth' and tenant = :tenant and id > :after
    and (:key is null or auth_key = :key) and (:group is null or group_key = :group)
order by id
limit :limit
