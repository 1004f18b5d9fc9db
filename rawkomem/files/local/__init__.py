"""Keep this machine's own records below `.rawko/local/`."""
