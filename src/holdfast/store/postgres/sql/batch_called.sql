-- batch_called: which job the callback of a batch became.
update job_batches set callback_job = :job where id = :id
