"""The merge driver: merge memory files entry by entry."""
