"""Replay past sessions: which memories each prompt would get now, and which corrections a memory covers now."""
