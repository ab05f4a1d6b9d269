-- parents_hold: jobs that others shall wait for, or are.
select id, status, tenant, error from job_queue where id in (select value from json_each(:ids)) order by id
