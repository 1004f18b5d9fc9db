"""Record execution traces, and consolidate them into learnings."""
