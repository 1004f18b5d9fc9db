"""Transcripts of sessions, and what is worth remembering in them."""
