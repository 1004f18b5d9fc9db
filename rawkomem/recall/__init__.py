"""Find and rank memories for a question or a task."""
