-- schema_version: the newest migration that was applied.
select max(version) from holdfast_schema
