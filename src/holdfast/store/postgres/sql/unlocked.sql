-- unlocked: of some jobs, those that no other transaction has in its hands; nobody else changes them from now on. Who
-- tends what others left must not wait for one of them that fell silent in mid-transaction.
select id from job_queue where id = any (:ids::text[]) order by id for update skip locked
