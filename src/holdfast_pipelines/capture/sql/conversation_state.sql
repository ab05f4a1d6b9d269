-- conversation_state: whether a session has ended, and how far learnings were looked for.
select completed_at, extracted_to from conversations where id = :conversation_id;
