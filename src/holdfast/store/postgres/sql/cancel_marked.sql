-- cancel_marked: whether a group was cancelled, for a type, since a run began.
select 1 from job_cancels
where tenant = :tenant and group_key = :group and at >= :since::timestamptz
    and (types is null or :type in (select value from json_array_elements_text(types) as named (value)))
limit 1
