"""Turn a session's transcript into drafts of memories: what a person said, or agreed to."""
