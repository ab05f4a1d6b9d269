-- forget_answer: a job has ended: nobody needs any more what a person gave it.
update job_queue set auth_data = null where id = :id and completed_at is not null
