"""Merge memory files entry by entry, as git's merge driver."""
