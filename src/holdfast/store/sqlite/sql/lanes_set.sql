-- lanes_set: starts were given out.
update job_lanes set tat = l.value ->> 1 from json_each(:lanes) as l where job_lanes.key = l.value ->> 0
