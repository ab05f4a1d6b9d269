-- limits_of_many: those of some jobs that have keys, and their leases.
select id, lease_until from job_queue where id = any (:ids::text[]) and limits is not null
