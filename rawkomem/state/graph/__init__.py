"""Links, episodes and walks between memories."""
