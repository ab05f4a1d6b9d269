-- validated: what extractors and readers may see of a conversation.
select id, role, content, tool_calls, sequence, created_at from messages
where conversation_id = :conversation_id and ai_validated = 1 order by sequence;
