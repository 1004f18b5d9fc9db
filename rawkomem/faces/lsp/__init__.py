"""Serve memories to editors by the Language Server Protocol.

server.py      routes requests
documents.py   the documents that the editor holds, and positions in them
shelf.py       the memories of a repository
places.py      what is at a position of a text; lines.py counts columns as the protocol does
diagnose.py    diagnostics of a document
complete.py    completions
show.py        hover cards and code lenses; tell.py writes their text
navigate.py    definitions, references, symbols
commands.py    create a memory, amend a memory
"""
