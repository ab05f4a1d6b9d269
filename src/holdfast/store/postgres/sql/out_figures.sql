-- out_figures: every histogram, in the order of its key; the parts of connections are added up.
select to_char(minute at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI'), queue, type, status, measure, bucket, sum(count)::bigint
from job_figures group by minute, queue, type, status, measure, bucket
order by minute, queue, type, status, measure, bucket
