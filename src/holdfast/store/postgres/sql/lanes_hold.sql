-- lanes_hold: the state of rates, which nobody else changes until the transaction ends; without those that another has
-- in its hands.
select key, tat, blocked_until from job_lanes
where key = any (array (select json_array_elements_text(:keys::json))) order by key for update skip locked
