"""Finds and redacts secrets and personal data; holds the scrubber."""
