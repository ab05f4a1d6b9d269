-- items_counts: how the items stand that ended in a chunk itself.
select status, count(*) from job_items
where batch = :batch and number between :first and :last and job_id = :id group by status
