-- endings: what is told of jobs that have just ended, to those who asked for it.
select
    id, type, status, queue, group_key, tenant, attempts, created_at, completed_at, version, error, result
from job_queue where id in (select value from json_each(:ids)) order by id
