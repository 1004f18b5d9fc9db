"""The faces of rawkomem: each turns requests into calls of Repository.

`cli`: the command line
`lsp`: the language server for editors
`mcp`: the MCP server for agents
`mesh`: the API and the command of memory-mesh (RFC-0011)
`web`: the page in a browser
"""
