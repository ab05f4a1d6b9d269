-- out_items: every item of every batch, in the order of the keys.
select batch, number, job_id, status, result, error from job_items order by batch collate "C", number
