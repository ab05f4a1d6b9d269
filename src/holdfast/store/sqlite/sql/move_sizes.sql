-- move_sizes: how many rows each table that moves has.
select
    (select count(*) from job_queue), (select count(*) from job_history),
    (select count(*) from job_figures), (select count(*) from job_pauses),
    (select count(*) from job_audit),
    (select count(*) from job_sequences), (select count(*) from job_subscriptions),
    (select count(*) from job_schedules), (select count(*) from job_parents),
    (select count(*) from job_batches), (select count(*) from job_items),
    (select count(*) from job_limits), (select count(*) from job_lanes), (select count(*) from job_units),
    (select count(*) from job_looks)
