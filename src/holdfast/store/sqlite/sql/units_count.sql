-- units_count: how many units of some keys are held: in all, by nobody yet, on this host.
select key, count(*), sum(owner is null), sum(owner is not null and owner like :host escape '\') from job_units
where key in (select value from json_each(:keys)) and (until is null or until > :now)
group by key
