-- limits_back: a job that was admitted, and that nobody has claimed, goes back in line.
with mine as (
    select j.id, b.value ->> 1 as lane from json_array_elements(:back::json) as b (value)
    join job_queue as j on j.id = b.value ->> 0
    where j.completed_at is null and j.lease_owner is null and j.lane is null and j.status <> 'awaiting_auth'
    for update of j skip locked
)
update job_queue as j set held = held | 32, lane = mine.lane from mine where j.id = mine.id
returning j.id
