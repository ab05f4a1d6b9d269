-- unsettled: how many jobs have not ended.
select count(*) from job_queue where status in ('queued', 'in_progress', 'awaiting_auth')
