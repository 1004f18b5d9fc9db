"""The search store in LanceDB: a folder, or an object store, of tables that any Arrow reader understands.

`tables`: its tables, those of RFC-0011, and commits over several tables.
`store`: writing and searching.
"""
