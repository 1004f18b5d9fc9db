"""The language server: a face for editors. Reads what the editor holds, asks the library, answers in LSP's words.

server.py      which request goes where
documents.py   what the editor holds, and places in it
shelf.py       the memories of a repository
places.py      what stands where in a text; lines.py counts as the protocol does
diagnose.py    what is wrong with a document
complete.py    what may be written
show.py        cards and remarks; tell.py finds the words
navigate.py    ways between memories
commands.py    a new memory, an amend
"""
