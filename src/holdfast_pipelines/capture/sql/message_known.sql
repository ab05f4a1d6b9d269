-- message_known: a message that was captured already: by this event, by its id, or in this turn by its text.
select 1 from messages where event_id = :event_id and part = :part
union all
select 1 from messages where conversation_id = :conversation_id and source_id = :source_id
union all
select 1 from messages
where conversation_id = :conversation_id and :source_id is null and role = 'assistant' and :role = 'assistant'
  and content_hash = :content_hash
  and sequence > (select coalesce(max(sequence), 0) from messages where conversation_id = :conversation_id and role = 'user')
limit 1;
