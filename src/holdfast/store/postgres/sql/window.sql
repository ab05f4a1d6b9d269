-- window: where a window of so many jobs below a cursor ends, so that one listing reads a bounded number of rows.
select id from job_queue where id < :before order by id desc limit 1 offset :window
