-- parents_rename: jobs that stay cancelled name a parent that is still the reason.
update job_queue set error = named.error, updated_at = :now, version = version + 1
from (select value ->> 0 as id, value ->> 1 as error from json_each(:jobs)) as named
where job_queue.id = named.id and +status = 'cancelled'
