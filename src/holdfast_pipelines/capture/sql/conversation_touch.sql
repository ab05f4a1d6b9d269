-- conversation_touch: something happened in a session; its end is set once, and taken back when it goes on.
update conversations
set updated_at = :at, transcript_owed = :owed, completed_at = case when :ended then coalesce(completed_at, :at) end
where id = :id;
