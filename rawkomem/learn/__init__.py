"""Create memories from transcripts, failures, skills and traces. Every way of learning returns a Plan to write."""
