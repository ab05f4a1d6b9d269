-- sequence_late: count a request that came too late.
update job_sequences set discarded = discarded + 1, used_at = :now::timestamptz
where tenant = :tenant and type = :type and coalesce_key = :coalesce_key
