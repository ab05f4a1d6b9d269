-- message_add: a message, behind the last one of its conversation.
insert into messages (id, conversation_id, role, content, content_hash, raw_hash, sequence, created_at, tool_calls, source_id,
  event_id, part)
values (:id, :conversation_id, :role, :content, :content_hash, :raw_hash,
  (select coalesce(max(sequence), 0) + 1 from messages where conversation_id = :conversation_id),
  :at, :tool_calls, :source_id, :event_id, :part);
