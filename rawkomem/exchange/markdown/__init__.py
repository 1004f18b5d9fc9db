"""Notes of other Markdown tools: their frontmatter, and the signs that each tool has of its own."""
