-- cancel_ask_many: ask runs to stop; each may still complete, any other ending becomes cancelled.
update job_queue set cancel_requested_at = :now, updated_at = :now, version = version + 1
where id in (select value from json_each(:ids)) and +status = 'in_progress' and cancel_requested_at is null
