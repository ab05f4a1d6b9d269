-- items: items of a batch that have ended, by number, above a cursor.
select number, status, result, error, job_id from job_items
where batch = :batch and number > :after and status != 'own' and (:failed = 0 or status != 'done')
order by number limit :limit
