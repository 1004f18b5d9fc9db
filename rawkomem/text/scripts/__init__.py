"""Scripts of the world: how a text becomes terms of the index, and which phrases two texts share."""
