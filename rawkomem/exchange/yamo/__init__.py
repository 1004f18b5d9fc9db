"""Databases of YAMO's memory-mesh: LanceDB folders with the tables of RFC-0011, read and written."""
