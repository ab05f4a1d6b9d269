-- items_stored: the items of a chunk that need no second run.
select number, status, job_id from job_items where batch = :batch and number between :first and :last
