-- cancel_marked: whether a group was cancelled, for a type, since a run began.
select 1 from job_cancels
where tenant = :tenant and group_key = :group and at >= :since
    and (types is null or :type in (select value from json_each(types)))
limit 1
