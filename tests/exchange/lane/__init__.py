"""Memory Lane."""
