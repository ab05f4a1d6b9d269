-- waiting_alone: waiting jobs that must run in a process of their own, by line; their number is small.
select queue, type, payload_version, min(count(*), :cap) as depth, min(scheduled_at) as oldest
from job_queue indexed by job_queue_alone where status = 'queued' and held = 1
group by queue, type, payload_version limit 1000
