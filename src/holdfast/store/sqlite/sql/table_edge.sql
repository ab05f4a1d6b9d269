-- table_edge: how far a small part of all jobs reaches.
select id from job_queue where id > :after order by id limit 1 offset :window - 1
