-- upload_begun: from now on something of it may be outside.
update uploads set begun_at = coalesce(begun_at, :at), updated_at = :at where learning_id = :learning_id and status = 'pending';
