"""Lessons: from failures, from wire blocks, with their heritage."""
