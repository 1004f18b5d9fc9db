"""The MCP server: a face for agents. Verbs are parse → one library call → text; the SDK is loaded by server.py only."""
