"""Toys that prove what an everyday change touches."""
