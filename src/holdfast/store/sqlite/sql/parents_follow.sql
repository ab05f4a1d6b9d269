-- parents_follow: who waits for a job that was overtaken waits for its successor instead.
update or ignore job_parents set parent = :successor where parent = :parent and done = 0 returning child
