-- message_claim: a message that came without its id is the one that the transcript names.
update messages set source_id = :source_id
where id = (
  select id from messages
  where conversation_id = :conversation_id and source_id is null and role = :role and raw_hash = :raw_hash
  order by sequence limit 1
)
returning id;
