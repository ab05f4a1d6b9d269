-- conversation: the conversation of a session, and whether an answer of it is still to be fetched.
select id, transcript_owed from conversations where session_id = :session_id or id = :conversation_id;
