"""Agent hosts: connecting them, and answering their hooks."""
