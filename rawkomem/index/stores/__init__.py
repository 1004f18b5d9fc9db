"""The search stores: passages with their words and vectors.

`sqlite`: the built-in store, and the records that all stores take and return.
`protocol`: what a store of vectors outside must do, and how a search uses one.
`database`: opens the index database, and the store that the user chose.
`bits`: the bits of all vectors in memory, for long-running processes.
`plugins`: LanceDB and PostgreSQL as plug-ins.
`lance`, `postgres`: these two stores.
"""
