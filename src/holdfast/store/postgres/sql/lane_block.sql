-- lane_block: no starts of a key until then.
update job_lanes set blocked_until = greatest(blocked_until, :until::double precision) where key = :key
