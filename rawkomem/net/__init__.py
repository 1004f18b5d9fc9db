"""Sends HTTP requests through one guarded client; no other code sends data over HTTP."""
