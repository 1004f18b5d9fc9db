"""The search store in LanceDB: a folder, or an object store, of tables that any Arrow reader understands."""
