-- move_sizes: how many rows each table that moves has; figures as they are told, the parts of connections added up.
select
    (select count(*) from job_queue), (select count(*) from job_history),
    (select count(*) from (select from job_figures group by minute, queue, type, status, measure, bucket) as told),
    (select count(*) from job_pauses), (select count(*) from job_audit),
    (select count(*) from job_sequences), (select count(*) from job_subscriptions),
    (select count(*) from job_schedules), (select count(*) from job_parents),
    (select count(*) from job_batches), (select count(*) from job_items),
    (select count(*) from job_limits), (select count(*) from job_lanes), (select count(*) from job_units),
    (select count(*) from (select distinct at, key from job_looks) as told)
