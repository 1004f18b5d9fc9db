"""Everyday extensions, each added by a test with only what the promise allows."""
