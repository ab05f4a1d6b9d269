"""The door for the next coding session: an MCP server that finds what earlier ones taught.

`fence` marks what was stored as data, `door` tells failures in our words, `tools` are what a client can ask for,
`serve` runs it, `companion` is the worker that it carries, and `registration` makes it known to Claude Code.
"""
