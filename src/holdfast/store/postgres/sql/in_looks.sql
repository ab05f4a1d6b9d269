-- in_looks: lines to look at, as another store had them, in bulk.
copy job_looks (at, key) from stdin
