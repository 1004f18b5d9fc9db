"""Implement the commands that keep a repository in order: check, index, lifecycle, ledger."""
