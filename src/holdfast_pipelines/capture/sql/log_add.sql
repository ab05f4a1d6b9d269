-- log_add: what was taken out of a message: never the text, only a keyed digest of it.
insert into sanitization_log (id, conversation_id, message_id, category, rule_id, original_snippet_hmac, replacement,
  detector, confidence, created_at)
values (:id, :conversation_id, :message_id, :category, :rule_id, :digest, :replacement, :detector, :confidence, :at);
