-- lane_block: no starts of a key until then.
update job_lanes set blocked_until = max(blocked_until, :until) where key = :key
