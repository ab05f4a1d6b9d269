-- history: add a line to the history of each of some jobs.
insert into job_history (job_id, line, at, from_status, to_status, why, attempt, worker, error_class, actor)
select h.id, 1 + coalesce((select max(o.line) from job_history as o where o.job_id = h.id), 0), :now::timestamptz,
    h.from_status, j.status, h.why, h.attempt, h.worker, h.error_class, h.actor
from unnest(
    :ids::text[], :from_statuses::text[], :whys::text[], :attempts::integer[], :workers::text[], :error_classes::text[],
    :actors::text[]
) as h (id, from_status, why, attempt, worker, error_class, actor)
left join job_queue as j on j.id = h.id -- none: refused by the constraint
