"""The faces: command line, MCP, LSP, page and memory mesh. Each parses, makes one library call and prints."""
