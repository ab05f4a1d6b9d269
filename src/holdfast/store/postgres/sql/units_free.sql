-- units_free: these jobs hold no unit any more.
delete from job_units where job_id = any (array (select json_array_elements_text(:ids::json))) returning key
