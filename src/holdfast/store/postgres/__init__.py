"""PostgreSQL, for any number of hosts."""
