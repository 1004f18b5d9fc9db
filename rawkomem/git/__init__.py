"""Run git, find out who committed what, check what is staged, connect hooks, cite code."""
