"""Execution traces and the learnings that are made of them."""
