-- sequence_set: remember the newest number of a coalesce key.
insert into job_sequences (tenant, type, coalesce_key, sequence, job_id, used_at)
values (:tenant, :type, :coalesce_key, :sequence, :id, :now)
on conflict (tenant, type, coalesce_key) do update
set sequence = excluded.sequence, job_id = excluded.job_id, used_at = excluded.used_at,
    ended = null
