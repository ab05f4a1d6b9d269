-- sweep_validation: messages that wait for a validator although nothing happened in their session for a while.
select distinct m.conversation_id from messages as m join conversations as c on c.id = m.conversation_id
where m.ai_validated = 0 and c.updated_at < :before limit 500;
