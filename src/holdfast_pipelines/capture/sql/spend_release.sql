-- spend_release: what was set aside for a call is needed no longer; answers its day, once.
delete from spending_held where id = :id returning day;
