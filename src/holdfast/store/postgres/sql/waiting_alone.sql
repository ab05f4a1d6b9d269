-- waiting_alone: waiting jobs that must run in a process of their own, by line; their number is small.
select queue, type, payload_version, least(count(*), :cap) as depth, min(scheduled_at) as oldest
from job_queue where status = 'queued' and held = 1
group by queue, type, payload_version limit 1000
