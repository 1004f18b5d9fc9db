"""Lay out, read, write, watch and check the files of a repository, and this machine's records below `.rawko/local`.

`layout`: paths of a repository and the user's folders; listing and reading files; texts that a user gives
`private`: files below `.rawko/local`, line files, locks, the ledger's spool
`origin`: making a local folder and its secret; setting foreign folders aside
`reading`: one memory file as entries and Problems
`append`: the only writer of entries; change files and gathering them
`replace`: atomic replacement of files, the generated page
`archive`: archive, bundles, rotation of the log, purge
`check`: the rules of `rawkomem check`
`watch`: file events
`journal`: recalls, background processes
`session_records`: what sessions received, usage counts, drafts
`machine_records`: prompts, transcripts, changes, arrivals, saved searches, purges that have not finished
`ledger`: the chain of operations
`kept_texts`: unsaved texts, copies of edited files
`installation`: new repositories, uninstalling, templates, documentation pages
"""
