"""What a person says to an agent, apart from what hosts add and what is pasted."""
