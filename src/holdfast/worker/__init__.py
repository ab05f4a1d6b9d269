"""Runs jobs."""
