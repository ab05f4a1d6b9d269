-- parents_add: new jobs wait for these; a parent that has completed already is waited for no more.
insert into job_parents (parent, child, done)
select e ->> 0, e ->> 1, (e ->> 2)::integer from json_array_elements(:edges::json) as e
