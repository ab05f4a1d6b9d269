"""The same measurements on PostgreSQL: a durable server, the least code that does the same, growth, and decay."""
