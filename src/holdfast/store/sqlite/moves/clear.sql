-- clear: throw away what another store has, to the last row, before it is filled anew.
delete from job_queue;
delete from job_history;
delete from job_figures;
delete from job_workers;
delete from job_pauses;
delete from job_leader;
delete from job_audit;
delete from job_sequences;
delete from job_schedules;
delete from job_limits;
delete from job_lanes;
delete from job_units;
delete from job_looks;
