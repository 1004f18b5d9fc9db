"""Data types of all folders. Standard library only.

`errors`: the errors that stop a command.
`values`: frozen records and their checks, time, vocabularies of the format, keys of other systems, problems in files.
`entries`: values of a frontmatter, Entry, Memory, Plan, Change, Task and Draft.
`filters`: the filters of search and lists, one row for each.
`ids`: ids of entries, slugs and file names.
`user_settings`: settings of sinks and of the language model.
`installed`: the command that installs a missing package here.
"""
