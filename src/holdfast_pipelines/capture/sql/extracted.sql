-- extracted: learnings were looked for up to here.
update conversations set extracted_to = max(extracted_to, :sequence) where id = :conversation_id;
