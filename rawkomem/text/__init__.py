"""Process plain text: cleaning, chunks, languages, whenToUse conditions. No I/O."""
