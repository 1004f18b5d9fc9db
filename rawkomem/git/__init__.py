"""Run git, find the author of each entry, check staged files, connect hooks, cite code."""
