-- group_edge: how far a small part of a group reaches.
select id from job_queue indexed by job_queue_groups
where tenant = :tenant and group_key = :group and id > :after order by id limit 1 offset :window - 1
