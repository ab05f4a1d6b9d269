-- parents_hold: jobs that others shall wait for, or are. Locked, so that none of them ends meanwhile; in one order for all.
select id, status, tenant, error from job_queue where id = any (:ids::text[]) order by id for update
