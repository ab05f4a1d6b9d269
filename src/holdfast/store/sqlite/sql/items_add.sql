-- items_add: items of a chunk have ended, or become jobs of their own.
insert into job_items (batch, number, job_id, status, result, error)
select :batch, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 from json_each(:items) where true
on conflict (batch, number) do nothing
