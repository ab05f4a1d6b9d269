-- in_lanes: the state of rates, as another store had them, in bulk.
copy job_lanes (key, tat, blocked_until) from stdin
