"""Create lessons from failures and from wire blocks."""
