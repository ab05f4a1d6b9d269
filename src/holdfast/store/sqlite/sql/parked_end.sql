-- parked_end: nobody came: the job is a dead letter.
update job_queue set
    status = 'dead_letter', completed_at = :now, error = :error, auth = null, auth_key = null, auth_until = null,
    updated_at = :now, version = version + 1
where id = :id and status = 'awaiting_auth' and auth_until <= :now
