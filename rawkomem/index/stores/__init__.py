"""The search stores: passages with their words and vectors.

`protocol`: what a store must do, and what stores without FTS5 share.
`sqlite`: the built-in store, and the records that all stores take and return.
`database`: opens the index database, and the store that the user chose.
`bits`: the bits of all vectors in memory, for long-running processes.
`plugins`: LanceDB and PostgreSQL as plug-ins.
`lance`, `postgres`: these two stores.
"""
