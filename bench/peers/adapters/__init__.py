"""One file a queue: how it is filled, and how its worker runs."""
