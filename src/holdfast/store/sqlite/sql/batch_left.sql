-- batch_left: whether a job of a batch has not ended.
select exists (select 1 from job_queue where batch = :batch and status in ('queued', 'awaiting_auth', 'in_progress'))
