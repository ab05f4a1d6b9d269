-- open: give the tables their names back.
alter table moved_job_queue rename to job_queue;
alter table moved_job_history rename to job_history;
alter table moved_job_figures rename to job_figures;
alter table moved_job_workers rename to job_workers;
alter table moved_job_pauses rename to job_pauses;
alter table moved_job_leader rename to job_leader;
alter table moved_job_audit rename to job_audit;
alter table moved_job_sequences rename to job_sequences;
alter table moved_job_schedules rename to job_schedules;
alter table moved_job_limits rename to job_limits;
alter table moved_job_lanes rename to job_lanes;
alter table moved_job_units rename to job_units;
alter table moved_job_looks rename to job_looks;
