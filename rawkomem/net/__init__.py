"""Send HTTP requests through one guarded client: nothing else leaves this machine over HTTP."""
