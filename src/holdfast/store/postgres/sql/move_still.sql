-- move_still: nobody else writes to the tables until the transaction ends; reading goes on.
lock table job_queue, job_history, job_figures, job_pauses, job_audit, job_sequences, job_subscriptions,
    job_schedules, job_parents, job_batches, job_items, job_limits, job_lanes, job_units, job_looks
in share row exclusive mode
