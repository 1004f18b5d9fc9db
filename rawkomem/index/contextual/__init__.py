"""The second tier of vectors, filled in the background."""
