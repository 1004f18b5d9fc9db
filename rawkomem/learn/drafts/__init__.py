"""From the turns of a session to drafts: what a person said, or agreed to."""
