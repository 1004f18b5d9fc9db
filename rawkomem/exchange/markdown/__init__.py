"""Read notes of other Markdown tools: their frontmatter and their own syntax."""
