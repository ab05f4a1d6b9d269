-- unhold: let jobs back into the due index, unless something else holds them.
update job_queue set held = held & ~:bit where id in (select value from json_each(:ids)) and +status in ('queued', 'in_progress', 'awaiting_auth')
