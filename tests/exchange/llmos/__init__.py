"""LLMos."""
