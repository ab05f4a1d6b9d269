-- close: take the tables away from everyone under their names, in one go.
alter table job_queue rename to moved_job_queue;
alter table job_history rename to moved_job_history;
alter table job_figures rename to moved_job_figures;
alter table job_workers rename to moved_job_workers;
alter table job_pauses rename to moved_job_pauses;
alter table job_leader rename to moved_job_leader;
alter table job_audit rename to moved_job_audit;
alter table job_sequences rename to moved_job_sequences;
alter table job_subscriptions rename to moved_job_subscriptions;
alter table job_schedules rename to moved_job_schedules;
alter table job_parents rename to moved_job_parents;
alter table job_cancels rename to moved_job_cancels;
alter table job_stopping rename to moved_job_stopping;
alter table job_batches rename to moved_job_batches;
alter table job_items rename to moved_job_items;
