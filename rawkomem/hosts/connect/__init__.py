"""Lets agents' hosts use a repository: merges calls of rawkomem into their settings, and takes them out again."""
