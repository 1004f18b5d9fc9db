"""Cleaning, chunking, languages, whenToUse conditions and other work on plain text. No I/O."""
