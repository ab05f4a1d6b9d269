-- unvalidated: messages that no validator has seen, in order.
select id, content, content_hash from messages
where conversation_id = :conversation_id and ai_validated = 0 order by sequence limit :most;
