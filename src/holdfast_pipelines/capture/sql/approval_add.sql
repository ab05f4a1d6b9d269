-- approval_add: a person has judged a learning.
insert into upload_approvals (id, learning_id, reviewed_at, decision, reviewer) values (:id, :learning_id, :at, :decision, 'user');
