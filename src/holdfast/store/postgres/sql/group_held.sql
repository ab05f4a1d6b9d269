-- group_held: the jobs in a part of a group that have not ended and bear a mark, or do not.
select id from job_queue
where tenant = :tenant and group_key = :name and id > :after and id <= :edge
    and status in ('queued', 'in_progress', 'awaiting_auth') and (held & :bit::integer != 0) = (:marked::integer = 1)
order by tenant, group_key, id
