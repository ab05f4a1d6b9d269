-- move_resume: lift the pauses that were set for a move, and no others.
delete from job_pauses where paused_by = :by
