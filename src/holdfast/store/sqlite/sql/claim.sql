-- claim: take waiting jobs under a lease; each claim is a new token and one more attempt.
update job_queue set
    status = 'in_progress', lease_owner = :owner, lease_until = :until, lease_token = lease_token + 1,
    attempts = attempts + 1, started_at = :now, updated_at = :now, version = version + 1
where id in (select value from json_each(:ids)) and status = 'queued'
