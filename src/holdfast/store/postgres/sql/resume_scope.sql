-- resume_scope: let claims of a group or a tenant go on.
delete from job_pauses where scope = :scope and tenant = :tenant and name = :name
