-- ended_window: the oldest jobs above a cursor, for retention to judge; bounded, so it never holds up a claim.
select id, status, completed_at, key_until from job_queue where id > :after order by id limit :window
