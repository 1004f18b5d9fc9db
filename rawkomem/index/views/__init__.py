"""Reads the index: filtered views, the past, authors, trust, counts and the graph."""
