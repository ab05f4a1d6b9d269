-- schema_drop: throw it away with all that is in it.
drop schema if exists {schema} cascade
