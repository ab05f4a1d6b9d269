-- learnings_of: the messages on which a conversation's learnings of a category rest.
select source_message_ids from learnings where conversation_id = :conversation_id and category = :category;
