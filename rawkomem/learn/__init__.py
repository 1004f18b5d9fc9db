"""How memories come to be: transcripts, extraction, lessons, skills, traces; all end in Plans."""
