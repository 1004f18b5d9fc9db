"""What agents' hosts run at the start of a session, at a prompt, at the end of a turn and of a session."""
