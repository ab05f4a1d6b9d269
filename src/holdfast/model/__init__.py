"""What things are. Pure: no input or output, no clock, no environment."""
