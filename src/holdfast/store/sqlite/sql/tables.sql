-- tables: which of our names the file already uses, and for what; a view or an index takes a table's name, too.
select lower(name), type from sqlite_schema
where type in ('table', 'view', 'index')
    and lower(name) in (
        'holdfast_schema', 'job_queue', 'job_history', 'job_figures', 'job_workers', 'job_pauses', 'job_leader',
        'job_audit', 'job_sequences', 'job_schedules', 'job_parents', 'job_cancels', 'job_stopping',
        'job_subscriptions', 'job_batches', 'job_items', 'job_limits', 'job_lanes', 'job_units', 'job_looks',
        'holdfast_move'
    )
