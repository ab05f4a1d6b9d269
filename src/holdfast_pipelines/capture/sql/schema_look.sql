-- schema_look: whether the capture tables are there, and of which version.
select name from sqlite_master where type = 'table' and name in ('capture_schema', 'conversations', 'messages', 'learnings');
