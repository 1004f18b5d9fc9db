"""Pure functions that compute state from entries. No I/O."""
