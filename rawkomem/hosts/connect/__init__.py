"""Add calls of rawkomem to the settings of agent hosts, and remove them again."""
