-- parents_add: new jobs wait for these; a parent that has completed already is waited for no more.
insert into job_parents (parent, child, done) select value ->> 0, value ->> 1, value ->> 2 from json_each(:edges)
