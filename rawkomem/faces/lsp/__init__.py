"""Serve memories to editors over the Language Server Protocol.

server.py      routes requests; worker.py runs them in a thread; client.py says what the editor supports
documents.py   the documents that the editor holds, and positions in them
shelf.py       the memories of a repository
places.py      frontmatter, keys, names and conditions in a text; lines.py counts columns as the protocol does
diagnose.py    diagnostics of a document; locate.py finds their position
watch.py       files that change outside the editor
complete.py    completions
show.py        hover cards and code lenses; tell.py writes their text
navigate.py    definitions, references, symbols
commands.py    create a memory, amend a memory
ask.py         search, and why a memory is recalled
"""
