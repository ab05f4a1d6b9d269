"""Holdfast end to end beside other queues on SQLite. One adapter a queue, each in a virtual environment of its own."""
