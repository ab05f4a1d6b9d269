-- learning_by_hash: a learning that says the same, word for word.
select id, source_message_ids, confidence, metadata from learnings where dedupe_hash = :dedupe_hash;
