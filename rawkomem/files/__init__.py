"""Lay out, read, write, watch and check the files of a repository, and this machine's records below `.rawko/local`.

`layout`: paths of a repository and the user's folders; listing and reading files; texts that a user gives
`private`: files below `.rawko/local`, locks; making that folder and its secret, setting foreign ones aside
`records`: the private SQLite file of what this machine remembers
`reading`: one memory file as entries and Problems
`append`: the only writer of entries; change files and gathering them
`replace`: atomic replacement of files, the generated page
`archive`: archive, bundles, rotation of the log, purge
`check`: the rules of `rawkomem check`
`watch`: file events
`journal`: appending to the ledger, background processes
`session_records`: what sessions received, usage counts, drafts
`machine_records`: prompts, transcripts, changes, arrivals, purges that have not finished
`ledger`: reading, verifying and purging the chain of operations
`kept_texts`: unsaved texts, copies of edited files
`installation`: new repositories, uninstalling, templates, documentation pages
"""
