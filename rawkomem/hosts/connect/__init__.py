"""Merge calls of rawkomem into the settings of agent hosts, and remove them again."""
