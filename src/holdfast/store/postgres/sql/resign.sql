-- resign: lead no more.
delete from job_leader where owner = :owner
