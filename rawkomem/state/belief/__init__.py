"""What is believed: claims, conflicts, trust, decisions about memories."""
