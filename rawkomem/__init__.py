"""rawkomem: a Markdown-first memory repository."""
