-- others: whether the file holds anything at all, asked where nothing in it is ours.
select exists (select 1 from sqlite_schema)
