"""Pure functions from entries to state. No I/O."""
