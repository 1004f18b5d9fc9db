"""Memory Lane's database."""
