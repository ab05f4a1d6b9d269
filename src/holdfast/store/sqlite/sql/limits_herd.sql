-- limits_herd: jobs that were enqueued before there was a rule for their queue get its key.
update job_queue set limits = json_insert(coalesce(limits, '[]'), '$[#]', case when :between is null then :key else :key || :between || tenant end)
where id in (
    select id from job_queue indexed by job_queue_due
    where status = 'queued' and held = 0 and queue = :queue and (
        limits is null or not exists (
            select 1 from json_each(limits)
            where value = case when :between is null then :key else :key || :between || tenant end))
    limit :limit)
returning id
