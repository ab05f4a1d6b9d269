-- in_parents: which job waits for which, as another store had it, in bulk.
copy job_parents (parent, child, done) from stdin
