-- in_items: an item of a batch as another store had it.
insert into job_items (batch, number, job_id, status, result, error) values (:batch, :number, :job_id, :status, :result, :error)
