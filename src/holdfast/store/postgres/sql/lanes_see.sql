-- lanes_see: the state of rates.
select key, tat, blocked_until from job_lanes where key = any (array (select json_array_elements_text(:keys::json)))
