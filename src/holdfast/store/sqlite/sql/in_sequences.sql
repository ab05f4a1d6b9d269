-- in_sequences: the last number of a coalesce key as another store had it.
insert into job_sequences (tenant, type, coalesce_key, sequence, job_id, discarded, used_at, ended)
values (:tenant, :type, :coalesce_key, :sequence, :job_id, :discarded, :used_at, :ended)
