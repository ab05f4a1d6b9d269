-- group_edge: how far a small part of a group reaches.
select id from job_queue
where tenant = :tenant and group_key = :group and id > :after
order by tenant, group_key, id limit 1 offset :window::integer - 1
