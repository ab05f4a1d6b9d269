-- lane_heads: the first of a line, of one priority, that are due.
select :key, id, priority, queue, type, payload_version, limits from job_queue indexed by job_queue_lane
where status = 'queued' and lane is not null and (held = 32 or held = 33)
    and lane = :key and priority = :priority and scheduled_at <= :now
order by scheduled_at, id limit :limit
