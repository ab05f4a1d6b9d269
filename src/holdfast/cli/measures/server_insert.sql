-- server_insert: one row of it, every column bound.
insert into jobs values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
