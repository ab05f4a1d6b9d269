-- 0002_tenants: whoever does not own the tables sees the jobs of the tenant that is set for the transaction, and no others;
-- without one, nothing. The owner is not bound by it and pays nothing for it; `holdfast sql --roles` lets workers and
-- readers see all.

alter table job_queue enable row level security;
alter table job_history enable row level security;

-- A setting that was made for an earlier transaction of the session is empty afterwards, not null. So an empty one is
-- nobody: jobs without a tenant are for the owner and the workers.
create policy job_queue_tenant on job_queue
    using (tenant = nullif(current_setting('holdfast.tenant', true), ''))
    with check (tenant = nullif(current_setting('holdfast.tenant', true), ''));

-- The look into job_queue is itself narrowed to the tenant.
create policy job_history_tenant on job_history
    using (exists (select from job_queue as j where j.id = job_history.job_id))
    with check (exists (select from job_queue as j where j.id = job_history.job_id));
