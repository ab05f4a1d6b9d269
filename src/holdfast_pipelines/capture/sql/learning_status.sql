-- learning_status: whether a learning may be shared.
update learnings set upload_status = :status where id = :id;
