"""Serve the page of `rawkomem browse`: show a repository in a browser on this machine, and carry out decisions."""
