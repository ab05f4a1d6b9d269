-- lanes_set: starts were given out.
update job_lanes as j set tat = (l.value ->> 1)::double precision
from json_array_elements(:lanes::json) as l (value) where j.key = l.value ->> 0
