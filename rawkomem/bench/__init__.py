"""Measurements of the real commands, for users to repeat on their own machine.

`speed`: time and memory of the commands, in starts; search stores compared on the same memories.
`warm`: times of calls in one process, and the process that `speed` measures as a server.
`recall`: how well search and injection find the right memories; its metrics; replayed sessions.
`gold`: learning and replay of sessions with gold memories.
`secrets`: redaction on a labeled corpus.
`corpus`: the made-up repository that `speed` uses.
"""
