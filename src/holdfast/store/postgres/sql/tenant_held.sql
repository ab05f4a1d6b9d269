-- tenant_held: the jobs of a tenant in a part of the table that have not ended and bear a mark, or do not.
select id from job_queue
where id > :after and id <= :edge and tenant = :name
    and status in ('queued', 'in_progress', 'awaiting_auth') and (held & :bit::integer != 0) = (:marked::integer = 1)
order by id
