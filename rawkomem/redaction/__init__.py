"""Find and redact secrets and personal data; the scrubber."""
