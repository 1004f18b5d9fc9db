"""Connect agent hosts, and answer their hooks."""
