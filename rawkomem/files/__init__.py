"""Lay out, read, write, scan, watch and check the files of a repository."""
