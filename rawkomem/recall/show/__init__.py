"""Writes what is recalled: which sentences of a memory, in which frame, with which marks."""
