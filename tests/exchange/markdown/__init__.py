"""Foreign Markdown."""
