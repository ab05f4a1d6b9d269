-- tables: which of our tables the file already has.
select name from sqlite_schema where type = 'table' and name in ('job_queue', 'holdfast_schema')
