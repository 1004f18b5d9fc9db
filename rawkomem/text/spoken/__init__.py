"""Separate a person's own words in a prompt from pasted text and from text of the host."""
