"""Import memories from other tools and export them: readers return entries, decisions return Plans.

`sources`: What `import` reads: a file or folder with its texts, and the place `kind:path#section` that a memory comes
    from.
`imported_entries`: Make entries from the data of a source: within our limits, with conditions and with different
    titles.
`instructions`: Read pages of instructions: CLAUDE.md, AGENTS.md, Cursor's rules. Sections become memories.
`notes`: Read folders of Markdown: plain notes, Serena's memories, basic-memory's notes, Claude Code's auto memory, our
    own files; and memories in JSON: those of mem0, and our own JSON Lines.
`written_files`: Write memories as files for other tools, and keep a folder that others use: JSON Lines, Markdown,
    rules.
`memory_lane`: Read Memory Lane's `memories.db` (v4.1), an untrusted SQLite file: read-only and within limits.
`llmos`: Import and export project folders of LLMos: each memory remembers its file, so that it goes back there.
`neolata`: Import and export neolata-mem: its JSON folder, and dumps of its Supabase tables; and its `ingest`.
`memory_mesh`: Read and write databases of YAMO's memory-mesh: LanceDB folders with the tables of RFC-0011.
`formats`: List the formats of other tools, one row each: how a source is recognized, and what reads and writes it.
`import_plan`: Decide what to do with each memory of a source: it is new, a newer version of a memory, a copy, or
    already known.
`sinks`: Report written entries to sinks, a daily log and a webhook's queue, if the user's own config sets them up;
    send the queued events.
"""
