-- stopped: the handler of a cancelled run has ended.
delete from job_stopping where job_id = :id and token = :token
