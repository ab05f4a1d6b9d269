-- items_add: items of a chunk have ended, or become jobs of their own.
insert into job_items (batch, number, job_id, status, result, error)
select :batch, (value ->> 0)::integer, value ->> 1, value ->> 2, (value ->> 3)::json, value ->> 4
from json_array_elements(:items::json) as e (value)
on conflict (batch, number) do nothing
