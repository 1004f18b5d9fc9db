"""This machine's own records below `.rawko/local/`."""
