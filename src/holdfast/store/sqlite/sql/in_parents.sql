-- in_parents: which job waits for which, as another store had it.
insert into job_parents (parent, child, done) values (:parent, :child, :done)
