"""Decay, duplicates, digests and consolidation."""
