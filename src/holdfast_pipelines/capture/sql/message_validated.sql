-- message_validated: a validator has seen a message; what it found is gone from the text.
update messages
set content = :content, content_hash = :content_hash, ai_validated = 1, ai_detections_count = :findings, validated_by = :by
where id = :id and content_hash = :seen;
