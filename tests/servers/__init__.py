"""Servers for the tests: found, or started for one session, or installed."""
