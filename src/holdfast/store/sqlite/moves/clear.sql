-- clear: throw away what another store has, to the last row, before it is filled anew.
delete from job_queue;
delete from job_history;
delete from job_figures;
delete from job_workers;
delete from job_pauses;
delete from job_leader;
delete from job_audit;
delete from job_sequences;
delete from job_subscriptions;
delete from job_schedules;
delete from job_parents;
delete from job_cancels;
delete from job_stopping;
delete from job_batches;
delete from job_items;
