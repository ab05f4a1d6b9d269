-- cancel_look: which of some jobs have not ended, and where they stand; nobody moves them until the transaction ends.
select id, type, status, attempts, tenant, group_key, (cancel_requested_at is not null)::integer from job_queue
where id = any (:ids::text[]) and completed_at is null
order by id for update
