-- clear: throw away what another store has, to the last row, before it is filled anew.
truncate
    job_queue, job_history, job_figures, job_workers, job_pauses, job_leader, job_audit, job_sequences, job_schedules,
    job_parents, job_cancels, job_stopping, job_subscriptions, job_batches, job_items, job_limits, job_lanes, job_units,
    job_looks;
