-- figure: count endings into the minute's histogram. Every connection has rows of its own, or workers would queue for them.
insert into job_figures (minute, queue, type, status, measure, bucket, part, count)
select :minute::timestamptz, f.queue, f.type, f.status, f.measure, f.bucket, pg_backend_pid(), f.count
from unnest(
    :queues::text[], :types::text[], :statuses::text[], :measures::text[], :buckets::integer[], :counts::integer[]
) as f (queue, type, status, measure, bucket, count)
on conflict (minute, queue, type, status, measure, bucket, part) do update set count = job_figures.count + excluded.count
