"""Serve memories to agents over the Model Context Protocol.

`agent_server`: requests, resources and completions, over a pool of repositories
`tools`: the tools and the prompts, and the texts of their answers, fenced as data
"""
