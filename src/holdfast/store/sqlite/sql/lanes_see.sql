-- lanes_see: the state of rates.
select key, tat, blocked_until from job_lanes where key in (select value from json_each(:keys))
