"""A small application that shows what the engine does."""
