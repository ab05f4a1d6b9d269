-- learning_uploaded: a learning is out; one that was revoked meanwhile stays so.
update learnings set upload_status = 'uploaded' where id = :id and upload_status = 'approved';
