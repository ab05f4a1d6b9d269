-- versions: what a watcher of jobs needs to know.
select id, version, status from job_queue where id = any (:ids::text[])
