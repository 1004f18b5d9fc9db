"""Serve memories to agents by the Model Context Protocol. Verbs parse, make one library call and return text."""
