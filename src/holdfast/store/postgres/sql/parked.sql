-- parked: jobs of a tenant that wait for a person, under one key or in one group, page by page; locked.
select id from job_queue
where status = 'awaiting_auth' and tenant = :tenant and id > :after
    and (:key::text is null or auth_key = :key) and (:group::text is null or group_key = :group)
order by id
limit :limit
for update
