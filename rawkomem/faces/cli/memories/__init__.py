"""Implement the commands about memories: write, read, find, judge and connect them."""
