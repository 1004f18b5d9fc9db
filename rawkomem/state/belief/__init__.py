"""Belief: claims, conflicts and trust of memories."""
