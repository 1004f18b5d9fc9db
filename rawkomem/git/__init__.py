"""Git: run it, read who committed what, check what is staged, connect hooks, cite code."""
