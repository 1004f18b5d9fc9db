"""Replay past sessions: what recall would have injected at each prompt, and which corrections a memory covers now."""
