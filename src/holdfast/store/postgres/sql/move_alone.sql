-- move_alone: wait until nobody uses the tables, and keep everybody out: no job is claimed between the last look and the close.
lock table
    job_schedules, job_pauses, job_workers, job_queue, job_history, job_figures, job_leader, job_audit,
    job_sequences, job_parents, job_cancels, job_stopping, job_subscriptions, job_batches, job_items,
    job_limits, job_lanes, job_units, job_looks
in access exclusive mode
