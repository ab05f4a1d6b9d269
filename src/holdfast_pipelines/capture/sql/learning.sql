-- learning: one learning with all it has.
select id, conversation_id, source_message_ids, category, title, content, confidence, tags, created_at, metadata, license,
  attribution_type, upload_status
from learnings where id = :id;
