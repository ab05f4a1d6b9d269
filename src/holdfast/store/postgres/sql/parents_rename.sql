-- parents_rename: jobs that stay cancelled name a parent that is still the reason.
update job_queue as j set error = named ->> 1, updated_at = :now::timestamptz, version = j.version + 1
from json_array_elements(:jobs::json) as named
where j.id = named ->> 0 and j.status = 'cancelled'
