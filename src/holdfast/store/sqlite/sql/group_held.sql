-- group_held: the jobs in a part of a group that have not ended and bear a mark, or do not.
select id from job_queue indexed by job_queue_groups
where tenant = :tenant and group_key = :name and id > :after and id <= :edge
    and status in ('queued', 'in_progress', 'awaiting_auth') and (held & :bit != 0) = :marked
order by id
