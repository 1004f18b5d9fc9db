"""One guarded HTTP client: whatever leaves this machine over HTTP goes through it."""
