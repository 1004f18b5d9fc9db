"""The search store in PostgreSQL, for a team.

`server`: connections, schema and rows.
`store`: writing and searching.
`sql/`: the tables, and neolata's views over them.
"""
