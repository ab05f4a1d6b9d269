-- parents_fell: end jobs whose parent ended badly.
update job_queue as j set
    status = 'cancelled', completed_at = :now::timestamptz, updated_at = :now::timestamptz, error = taken ->> 1,
    version = j.version + 1
from json_array_elements(:jobs::json) as taken
where j.id = taken ->> 0 and j.status = 'queued'
