-- cancel_mark: remember that a group was cancelled: what runs begun before enqueue is born cancelled.
insert into job_cancels (tenant, group_key, id, at, types, mode, cancelled_by)
values (:tenant, :group, :id, :now, :types, :mode, :by)
