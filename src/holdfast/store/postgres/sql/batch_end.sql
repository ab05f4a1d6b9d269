-- batch_end: the last item of a batch has ended; once only, whoever comes first.
update job_batches set ended_at = :now::timestamptz, version = version + 1
where id = :id and ended_at is null and done + failed + cancelled = total
returning callback
