"""The search store in PostgreSQL, which needs the extra `postgres`; plugin.py opens it."""
