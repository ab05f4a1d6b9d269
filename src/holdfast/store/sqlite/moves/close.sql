-- close: take the tables away from everyone under their names, in one go.
alter table job_queue rename to moved_job_queue;
alter table job_history rename to moved_job_history;
alter table job_figures rename to moved_job_figures;
alter table job_workers rename to moved_job_workers;
alter table job_pauses rename to moved_job_pauses;
alter table job_leader rename to moved_job_leader;
alter table job_audit rename to moved_job_audit;
alter table job_sequences rename to moved_job_sequences;
alter table job_schedules rename to moved_job_schedules;
alter table job_limits rename to moved_job_limits;
alter table job_lanes rename to moved_job_lanes;
alter table job_units rename to moved_job_units;
alter table job_looks rename to moved_job_looks;
