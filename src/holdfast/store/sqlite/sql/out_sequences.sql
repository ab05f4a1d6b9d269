-- out_sequences: the last number of every coalesce key, in the order of the keys.
select tenant, type, coalesce_key, sequence, job_id, discarded, used_at, ended from job_sequences
order by tenant, type, coalesce_key
