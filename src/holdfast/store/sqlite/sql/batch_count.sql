-- batch_count: items of a batch have ended, or are tried again.
update job_batches set
    done = done + :done, failed = failed + :failed, cancelled = cancelled + :cancelled,
    version = version + 1
where id = :id
