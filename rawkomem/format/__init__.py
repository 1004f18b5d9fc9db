"""The file format: frontmatter, entries, splitting and writing them, wire blocks."""
