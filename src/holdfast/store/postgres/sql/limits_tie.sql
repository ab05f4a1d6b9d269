-- limits_tie: give new jobs their keys; each stands in line for its first.
update job_queue as j set limits = (t.value ->> 1)::json, lane = t.value ->> 2, held = held | 32
from json_array_elements(:rows::json) as t (value) where j.id = t.value ->> 0 and j.lane is null
