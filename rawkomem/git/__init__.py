"""Run git, find the author of each entry, check commits and branches, merge memory files, connect hooks, cite code.

`runner`: running git; work tree, tracked files, ids, the user's name
`authorship`: who committed each entry; the settings that a person committed
`staged`: git's index, the parent commits, and the lines that a commit adds
`commit_checks`: the checks of a commit, edits as amendments, duplicates
`branch`: the changes of a branch to memories
`merge`: the merge driver; `merge_parts`: the usual merge, without reading entries
`connection`: hooks and settings of a clone; our lines in a file of somebody else
`citations`: whether cited code changed; the text of a symbol in a source file
"""
