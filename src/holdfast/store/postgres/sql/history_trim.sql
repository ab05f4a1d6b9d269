-- history_trim: keep the newest hundred lines of a job.
delete from job_history as h using unnest(:ids::text[]) as w (id)
where h.job_id = w.id and h.line <= (select max(o.line) from job_history as o where o.job_id = w.id) - 100
