-- newest_mark: give a new job its coalesce key; behind a run of the same key it is held.
update job_queue set coalesce_key = :coalesce_key, sequence = :sequence, held = held | :held where id = :id
