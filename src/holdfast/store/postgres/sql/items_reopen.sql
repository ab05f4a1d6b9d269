-- items_reopen: a chunk is sent round again by a person: forget that its rest never ran.
delete from job_items
where batch = :batch and number between :first and :last and job_id = :id and status = 'unrun'
