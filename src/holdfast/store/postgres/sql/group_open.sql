-- group_open: the jobs in a part of a group that have not ended.
select id, type from job_queue
where tenant = :tenant and group_key = :group and id > :after and id <= :edge
    and status in ('queued', 'in_progress', 'awaiting_auth')
order by tenant, group_key, id
