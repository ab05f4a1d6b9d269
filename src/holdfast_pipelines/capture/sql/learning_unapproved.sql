-- learning_unapproved: an approval is void: sharing was turned off before the upload was done.
update learnings set upload_status = 'not_approved' where id = :id and upload_status = 'approved';
