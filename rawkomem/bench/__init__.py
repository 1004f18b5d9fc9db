"""Measurements of the real commands, for users to repeat on their own machine."""
