"""Layer 0 of RFC-0011: six stages between a text and what is indexed and embedded of it. Files are never touched."""
