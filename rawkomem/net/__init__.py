"""Sends HTTP requests through one guarded client; no other code sends data over HTTP.

`guard`: which URLs and addresses may be sent to, and the errors of requests.
`client`: posts to a checked URL, and exchanges JSON with an API.
"""
