-- learning_add: a new learning.
insert into learnings (id, conversation_id, source_message_ids, category, title, content, confidence, tags, dedupe_hash, simhash,
  created_at, metadata)
values (:id, :conversation_id, :source_message_ids, :category, :title, :content, :confidence, :tags, :dedupe_hash, :simhash,
  :at, :metadata);
