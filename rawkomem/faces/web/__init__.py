"""Show memories as a page in a browser, and let a person change them there.

`page_server`: the server, its addresses, and the checks of a request
`page_views`: the answers to GET requests: memories, what waits, graph, health
`page_changes`: the answers to POST requests: add, edit, link, decide on what waits, undo
`page_markdown`: Markdown as safe HTML
`page/`: the files of the page itself
"""
