-- batch_ended: of jobs that have ended, those that are part of a batch; what a chunk was to do is in its payload.
select id, batch, item, status, case when item is null then payload end from job_queue
where id = any (array (select json_array_elements_text(:ids::json))) and batch is not null
order by batch, id
