-- tables: which of our tables the database already has.
select relname::text from pg_class
where relname in ('job_queue', 'holdfast_schema', 'holdfast_move') and relkind in ('r', 'p') and pg_table_is_visible(oid)
