-- batch_jobs: jobs of a batch that have not ended.
select id from job_queue
where batch = :batch and status in ('queued', 'awaiting_auth', 'in_progress')
order by id limit :limit
