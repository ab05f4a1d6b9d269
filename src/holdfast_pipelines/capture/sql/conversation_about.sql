-- conversation_about: where and when a conversation was held.
select id, project, created_at, completed_at from conversations where id = :conversation_id;
