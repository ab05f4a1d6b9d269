-- newest_free: a run of this key is over: the job behind it may begin.
update job_queue set held = held & ~:behind, updated_at = :now, version = version + 1
where tenant = :tenant and type = :type and coalesce_key = :coalesce_key
    and (status = 'queued' or status = 'awaiting_auth') and held & :behind != 0
returning id, queue, lane
