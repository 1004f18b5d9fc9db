"""Read and write the file format: frontmatter, entries and wire blocks."""
