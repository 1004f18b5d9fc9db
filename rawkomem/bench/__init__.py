"""Measurements of the real commands, for users to repeat on their own machine.

`speed`: time and memory of the commands, in starts; search stores compared; the made-up repository that it uses; the
process that it measures as a server.
`recall`: how well search and injection find the right memories; its metrics; replayed sessions;
learning and replay of sessions with gold memories; redaction on a labeled corpus.
"""
