-- in_units: units that jobs hold, as another store had them, in bulk.
copy job_units (key, job_id, since, owner, until) from stdin
