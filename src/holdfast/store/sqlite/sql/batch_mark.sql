-- batch_mark: jobs that were just stored are part of a batch; some have a run behind them already.
update job_queue set batch = :batch, item = e.item, attempts = e.attempts, failed = e.failed, error = e.error
from (
    select
        value ->> 0 as id, value ->> 1 as item, value ->> 2 as attempts, value ->> 3 as failed, value ->> 4 as error
    from json_each(:jobs)
) as e
where job_queue.id = e.id
