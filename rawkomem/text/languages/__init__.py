"""Data of human languages: one module per language, with its `LANGUAGE`."""
