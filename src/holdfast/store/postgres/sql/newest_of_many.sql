-- newest_of_many: the coalesce keys of some jobs.
select distinct tenant, type, coalesce_key from job_queue where id = any (:ids::text[]) and coalesce_key is not null
order by tenant, type, coalesce_key
