"""One module per human language; each holds a `LANGUAGE`."""
