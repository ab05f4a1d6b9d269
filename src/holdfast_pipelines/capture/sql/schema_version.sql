-- schema_version: the version of the capture tables.
select version from capture_schema;
