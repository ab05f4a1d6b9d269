-- lanes_hold: the state of rates, which nobody else changes until the transaction ends.
select key, tat, blocked_until from job_lanes where key in (select value from json_each(:keys))
