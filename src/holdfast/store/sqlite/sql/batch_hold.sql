-- batch_hold: nobody else counts items of a batch until the transaction ends.
select id from job_batches where id = :id and (:tenant is null or tenant = :tenant)
