"""Frontmatter, splitting, chunking, cleaning, redaction and whenToUse conditions. No I/O."""
