"""Lay out, read, write, watch and check the files of a repository, and this machine's records.

`layout`: paths of a repository and the user's folders; listing and reading files; texts that a user gives
`git_folder`: a project's git folder, and the folder of this machine's records in it; whether HEAD is another commit
`private`: files below `.rawko/local` and in the folder of records, locks; making these folders and their secrets
`records`: the private SQLite file of what this machine remembers; copying records and texts from
another local folder
`reading`: one memory file as entries and Problems
`append`: the only writer of entries; change files and gathering them
`replace`: atomic replacement of files, also of other programs; the generated page
`archive`: archive, bundles, rotation of the log, purge
`check`: the rules of `rawkomem check`
`watch`: file events
`blocks`: the chain of the ledger's blocks
`journal`: appending to the ledger
`background`: forks and detached processes of rawkomem
`session_records`: what sessions received, usage counts, drafts
`machine_records`: prompts, transcripts, changes, arrivals, purges that have not finished
`ledger`: reading, verifying and purging the chain of operations
`forgetting`: removing a purged text from all records and files of this machine
`kept_texts`: unsaved texts, copies of edited files, the texts of shortened files
`installation`: new repositories, uninstalling, templates, documentation pages
"""
