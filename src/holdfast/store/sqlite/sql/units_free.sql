-- units_free: these jobs hold no unit any more.
delete from job_units where job_id in (select value from json_each(:ids)) returning key
