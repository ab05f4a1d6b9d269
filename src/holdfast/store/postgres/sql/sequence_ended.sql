-- sequence_ended: jobs are about to be deleted: their coalesce keys remember how they ended.
update job_sequences as s set ended = j.status
from job_queue as j
where j.id = any (:ids::text[]) and j.coalesce_key is not null
    and s.tenant = j.tenant and s.type = j.type and s.coalesce_key = j.coalesce_key and s.job_id = j.id
