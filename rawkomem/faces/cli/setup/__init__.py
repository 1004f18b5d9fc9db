"""Implement the commands that set up a project, an agent host or a server."""
