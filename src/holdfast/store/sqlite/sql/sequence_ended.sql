-- sequence_ended: a job is about to be deleted: its coalesce key remembers how it ended.
update job_sequences set ended = j.status
from job_queue as j
where j.id in (select value from json_each(:ids)) and j.coalesce_key is not null
    and job_sequences.tenant = j.tenant and job_sequences.type = j.type and job_sequences.coalesce_key = j.coalesce_key
    and job_sequences.job_id = j.id
