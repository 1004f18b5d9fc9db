"""Keep records of this machine below `.rawko/local/`."""
