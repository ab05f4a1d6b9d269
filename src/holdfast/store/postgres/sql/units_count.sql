-- units_count: how many units of some keys are held: in all, by nobody yet, on this host.
select u.key, count(*), count(*) filter (where u.owner is null), count(*) filter (where u.owner like :host)
from json_array_elements_text(:keys::json) as k (key) join job_units as u on u.key = k.key
where u.until is null or u.until > :now::timestamptz
group by u.key
