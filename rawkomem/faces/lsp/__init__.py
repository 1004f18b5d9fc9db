"""Serve memories to editors over the Language Server Protocol.

`editor_server`: routes requests and notifications; diagnostics; files that change outside the editor
`documents`: the editor's capabilities, the worker thread, repositories, open documents; places in a text
`features`: completions, hover cards, code lenses, definitions, references, symbols, search, why; create a memory, amend a memory
"""
