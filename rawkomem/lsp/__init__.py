"""The language server: a face for editors. Reads what the editor holds, asks the library, answers in LSP's words."""
