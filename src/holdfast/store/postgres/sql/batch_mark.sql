-- batch_mark: jobs that were just stored are part of a batch; some have a run behind them already.
update job_queue as j set
    batch = :batch, item = (e.value ->> 1)::integer, attempts = (e.value ->> 2)::integer,
    failed = (e.value ->> 3)::integer, error = e.value ->> 4
from json_array_elements(:jobs::json) as e (value)
where j.id = e.value ->> 0
