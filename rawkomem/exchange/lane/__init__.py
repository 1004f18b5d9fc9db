"""Read Memory Lane's database."""
