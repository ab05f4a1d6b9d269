-- limits_tie: give new jobs their keys; each stands in line for its first.
update job_queue set limits = t.value ->> 1, lane = t.value ->> 2, held = held | 32
from json_each(:rows) as t where job_queue.id = t.value ->> 0
