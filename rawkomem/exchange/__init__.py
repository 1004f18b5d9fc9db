"""Import memories from other tools, and export them: readers return entries, decisions return Plans."""
