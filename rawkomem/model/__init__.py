"""Data types, kinds, ids, errors and the clock. Standard library only."""
