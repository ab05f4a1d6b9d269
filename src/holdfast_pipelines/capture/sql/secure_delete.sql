-- secure_delete: what is overwritten is filled with zeros, on this connection.
pragma secure_delete = on;
