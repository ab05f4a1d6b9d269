-- units_over: drop the units of runs that were ended by others and whose lease would be over by now.
delete from job_units where until is not null and until <= :now returning key
