-- lend: the tables of a closed file under their own names, for one connection alone.
create temporary view job_queue as select * from main.moved_job_queue;
create temporary view job_history as select * from main.moved_job_history;
create temporary view job_figures as select * from main.moved_job_figures;
create temporary view job_pauses as select * from main.moved_job_pauses;
create temporary view job_audit as select * from main.moved_job_audit;
create temporary view job_sequences as select * from main.moved_job_sequences;
create temporary view job_subscriptions as select * from main.moved_job_subscriptions;
create temporary view job_schedules as select * from main.moved_job_schedules;
create temporary view job_parents as select * from main.moved_job_parents;
create temporary view job_batches as select * from main.moved_job_batches;
create temporary view job_items as select * from main.moved_job_items;
create temporary view job_limits as select * from main.moved_job_limits;
create temporary view job_lanes as select * from main.moved_job_lanes;
create temporary view job_units as select * from main.moved_job_units;
create temporary view job_looks as select * from main.moved_job_looks;
