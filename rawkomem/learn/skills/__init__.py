"""Skills: reading, judging, exporting and proposing them."""
