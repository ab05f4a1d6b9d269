-- limits_herd: jobs that were enqueued before there was a rule for their queue get its key.
update job_queue as j set limits = (
    coalesce(j.limits::jsonb, '[]') || to_jsonb(case when :between::text is null then :key::text else :key::text || :between::text || j.tenant end))::json
where j.id in (
    select q.id from job_queue as q
    where q.status = 'queued' and q.held = 0 and q.queue = :queue and (
        q.limits is null or not q.limits::jsonb ? (
            case when :between::text is null then :key::text else :key::text || :between::text || q.tenant end))
    order by q.queue, q.type, q.payload_version, q.priority, q.scheduled_at, q.id
    limit :limit
    for update skip locked)
returning j.id
