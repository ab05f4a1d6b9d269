-- parents_fell: end jobs whose parent ended badly.
update job_queue set
    status = 'cancelled', completed_at = :now, updated_at = :now, error = taken.error, version = version + 1
from (select value ->> 0 as id, value ->> 1 as error from json_each(:jobs)) as taken
where job_queue.id = taken.id and +status = 'queued'
