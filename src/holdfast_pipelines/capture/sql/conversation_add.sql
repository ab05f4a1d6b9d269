-- conversation_add: a session was heard of for the first time.
insert into conversations (id, session_id, correlation_id, project, created_at, updated_at, sanitization_version)
values (:id, :session_id, :id, :project, :at, :at, :version);
