"""The search store in PostgreSQL; opened by index/postgres_store.py."""
