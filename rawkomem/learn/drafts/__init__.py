"""Make drafts of memories from a session: statements that a person made or agreed to."""
