-- 0011_counts: cancelled items of a batch are no failed ones; and jobs that wait for others are counted where they lie.

alter table job_batches add column cancelled integer not null default 0;

create index job_queue_blocked on job_queue (queue, type) where blocked > 0 and status = 'queued'; -- first what is wrong of most: it is asked at every change
