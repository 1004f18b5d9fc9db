"""Read the transcripts of sessions."""
