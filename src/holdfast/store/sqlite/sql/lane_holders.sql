-- lane_holders: some of the jobs that hold a unit of a key.
select job_id from job_units where key = :key and (until is null or until > :now) order by since limit :limit
