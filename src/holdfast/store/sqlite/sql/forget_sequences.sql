-- forget_sequences: drop the numbers of coalesce keys that have long not been used.
delete from job_sequences where used_at < :before
