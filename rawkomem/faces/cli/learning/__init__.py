"""Implement the commands that learn from work: sessions, lessons, traces, skills; import and export."""
