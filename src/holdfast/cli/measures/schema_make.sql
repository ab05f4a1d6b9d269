-- schema_make: a place for tables that are measured and then thrown away.
create schema {schema}
