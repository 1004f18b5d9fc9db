"""Answer the hooks that agent hosts run: at the start of a session, at a prompt, at the end of a turn or session."""
