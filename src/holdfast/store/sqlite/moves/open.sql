-- open: give the tables their names back.
alter table moved_job_queue rename to job_queue;
alter table moved_job_history rename to job_history;
alter table moved_job_figures rename to job_figures;
alter table moved_job_workers rename to job_workers;
alter table moved_job_pauses rename to job_pauses;
alter table moved_job_leader rename to job_leader;
alter table moved_job_audit rename to job_audit;
alter table moved_job_sequences rename to job_sequences;
alter table moved_job_subscriptions rename to job_subscriptions;
alter table moved_job_schedules rename to job_schedules;
alter table moved_job_parents rename to job_parents;
alter table moved_job_cancels rename to job_cancels;
alter table moved_job_stopping rename to job_stopping;
alter table moved_job_batches rename to job_batches;
alter table moved_job_items rename to job_items;
