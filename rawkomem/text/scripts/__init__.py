"""Handle all scripts: split texts into terms of the index, and find phrases that two texts share."""
