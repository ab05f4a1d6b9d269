-- log_of: what was taken out of a conversation.
select category, rule_id, detector, confidence from sanitization_log where conversation_id = :conversation_id;
