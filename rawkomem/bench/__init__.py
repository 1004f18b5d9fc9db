"""Measurements of the real commands, for users to repeat on their own machine.

`speed`: time and memory of the commands, in starts; search stores compared; the made-up repository that it uses.
`warm`: times of calls in one process, and the process that `speed` measures as a server.
`recall`: how well search and injection find the right memories; its metrics; replayed sessions.
`gold`: learning and replay of sessions with gold memories; redaction on a labeled corpus.
"""
