-- park: what a person is asked by the run that has just ended; an earlier answer is forgotten.
update job_queue set auth = :auth, auth_key = :auth_key, auth_until = :until, auth_data = null, parks = parks + 1
where id = :id and lease_token = :token and status = 'awaiting_auth'
