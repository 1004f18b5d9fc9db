"""Serve memories to agents over the Model Context Protocol. Each tool makes one library call and returns text."""
