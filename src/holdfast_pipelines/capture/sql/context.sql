-- context: validated messages of a conversation, from a place on or from shortly before the first that a learning names.
select id, role, substr(content, 1, :longest), length(content), tool_calls, sequence, created_at from messages
where conversation_id = :conversation_id and ai_validated = 1
  and sequence >= coalesce(:start, (
    select min(sequence) - :before from messages
    where conversation_id = :conversation_id and id in (select value from json_each(:sources))
  ), 1)
order by sequence limit :limit;
