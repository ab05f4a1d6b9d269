-- batch_ended: of jobs that have ended, those that are part of a batch; what a chunk was to do is in its payload.
select id, batch, item, status, case when item is null then payload end from job_queue
where id in (select value from json_each(:ids)) and batch is not null
order by batch, id
