-- in_sequences: the last numbers of coalesce keys as another store had them, in bulk.
copy job_sequences (tenant, type, coalesce_key, sequence, job_id, discarded, used_at, ended) from stdin
