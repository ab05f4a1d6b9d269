-- learning_merge: a learning was met again.
update learnings set source_message_ids = :source_message_ids, confidence = :confidence, metadata = :metadata where id = :id;
