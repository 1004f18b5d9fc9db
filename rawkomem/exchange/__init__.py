"""Memories from other tools, and into them: readers end in entries, decisions in Plans."""
