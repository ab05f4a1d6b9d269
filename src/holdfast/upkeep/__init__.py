"""Keeps the house: ends what nobody holds, deletes what is old, tells when something is wrong."""
