-- sweep_extraction: sessions that rest and have messages in which no learnings were looked for.
select c.id from conversations as c
where c.updated_at < :before
  and c.extracted_to < (select coalesce(max(sequence), 0) from messages where conversation_id = c.id and ai_validated = 1)
limit 500;
