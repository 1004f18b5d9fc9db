"""Subjects of the seeds' texts, each with sentences about it: the test of the order makes small repositories of them."""

# name: (task, condition, title, three sentences that go together, older sentence, newer sentence that contradicts it)
SUBJECTS = {
    "auth": (
        "implement the login page", "auth|login|security", "Authentication patterns",
        "Refresh tokens rotate on every login.", "The login form locks after five failures.",
        "Every login is written to the audit log.",
        "Use localStorage for login tokens.", "Use httpOnly cookies for login tokens.",
    ),
    "navigation": (
        "find the file that parses plans", "exploring|navigate|find.*file", "How to find a file",
        "Plan files are below .rawko/plans.", "A file is listed in the plan before it is written.",
        "A plan file is found by its name.",
        "Use grep for finding a file.", "Use ripgrep instead of grep for finding a file.",
    ),
    "planner": (
        "plan the database task", "database|migration", "Database tasks",
        "A database task names the tables it touches.", "Each database task has a rollback.",
        "The planner splits a database task by table.",
        "Database migrations run during the deploy.", "Database migrations never run during the deploy.",
    ),
    "traces": (
        "archive old execution traces", "trace|retention", "Execution traces",
        "An execution trace holds the goal and the tools.", "The trace of a failed run names the error.",
        "Each trace has a memory id.",
        "Traces are kept for 24 hours.", "Traces are kept for 72 hours.",
    ),
    "consolidation": (
        "consolidate traces into learnings", "consolidate|learning", "Consolidation of learnings",
        "A learning names the traces it comes from.", "Traces that repeat become a learning.",
        "A learning keeps the traces of one agent.",
        "Consolidation of learnings runs on cron.", "Consolidation of learnings does not run on cron.",
    ),
    "redaction": (
        "redact secrets in content", "redact|secret|pii", "Redaction of secrets",
        "An email becomes a tag when secrets are redacted.", "Redaction of secrets is on for every write.",
        "Paragraphs without letters are noise.",
        "Secrets are never redacted in code blocks.", "Secrets are redacted in code blocks.",
    ),
    "trust": (
        "explain the trust of a memory", "trust|provenance", "Trust of memories",
        "Trust rises when another source confirms a memory.", "Trust starts at the provenance of a memory.",
        "A dispute lowers the trust of a memory.",
        "The trust threshold is 0.3.", "The trust threshold is 0.5.",
    ),
    "decay": (
        "archive memories by decay", "decay|archive", "Decay of memories",
        "Decay lowers the strength of unused memories.", "A link slows the decay of a memory.",
        "Decisions decay slower than insights.",
        "The half-life of decay is 30 days.", "The half-life of decay is 60 days.",
    ),
}  # fmt: skip
