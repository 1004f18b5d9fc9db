"""The wings of a Repository: one class per subject, loaded on first use."""
