-- parents_settle: these parents are over; tells who waited for which of them.
update job_parents set done = 1 where parent in (select value from json_each(:ids)) and done = 0 returning parent, child
