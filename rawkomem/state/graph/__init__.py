"""Links between memories, episodes, and walks over the graph."""
