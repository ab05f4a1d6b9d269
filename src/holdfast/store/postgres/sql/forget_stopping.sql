-- forget_stopping: drop cancelled runs whose leases would have ended by now.
delete from job_stopping where until <= :now::timestamptz
