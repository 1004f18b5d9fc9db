"""Subjects of the seeds' texts, each with sentences about it: the test of the order makes small repositories of them."""

from __future__ import annotations

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
    "log": (
        "append to the experience log", "experience log|memory log", "The experience log",
        "An experience is one block of the log.", "The log is read from its end.",
        "Each experience names its agent.",
        "The limit of the log is 1000 experiences.", "The limit of the log is 500 experiences.",
    ),
    "consolidation": (
        "consolidate traces into learnings", "consolidate|learning", "Consolidation of learnings",
        "A learning names the traces it comes from.", "Patterns that repeat become a learning.",
        "Consolidation reads the traces of one agent.",
        "Consolidation of learnings runs on cron.", "Consolidation of learnings does not run on cron.",
    ),
    "redaction": (
        "redact secrets in content", "redact|secret|pii", "Redaction of secrets",
        "An email becomes a tag when secrets are redacted.", "Redaction of secrets is on for every write.",
        "Paragraphs without letters are noise.",
        "Secrets are never redacted in code blocks.", "Secrets are redacted in code blocks.",
    ),
    "search": (
        "tune hybrid search ranking", "hybrid search|ranking|bm25", "Hybrid search",
        "Hybrid search joins ranks of words and vectors.", "The ranking has a floor.",
        "Search returns the best passage of each memory.",
        "The search limit is 10 results.", "The search limit is 25 results.",
    ),
    "skills": (
        "prune unreliable skills", "skill|prune", "Skill reliability",
        "A skill that fails loses reliability.", "The name of a skill is found exactly.",
        "A skill is synthesized from lessons.",
        "Skills below a reliability of 0.3 are pruned.", "Skills below a reliability of 0.2 are pruned.",
    ),
    "lessons": (
        "distill a lesson from the failure", "lesson|failure", "Lessons of failures",
        "A lesson says what went wrong in the failure.", "Each lesson has a preventive rule.",
        "The better of two lessons wins.",
        "We use regexes for lesson distillation.", "We use an LLM for lesson distillation.",
    ),
    "trust": (
        "explain the trust of a memory", "trust|provenance", "Trust of memories",
        "Trust rises when another source confirms a memory.", "Trust starts at the provenance of a memory.",
        "A dispute lowers the trust of a memory.",
        "The trust threshold is 0.3.", "The trust threshold is 0.5.",
    ),
    "quarantine": (
        "review claims in quarantine", "quarantine|claim", "Claims in quarantine",
        "A claim in quarantine waits for a review.", "A review activates or rejects a claim.",
        "The reason of a quarantine is kept.",
        "Conflicting claims are allowed in prompts.", "Conflicting claims are not allowed in prompts.",
    ),
    "decay": (
        "archive memories by decay", "decay|archive", "Decay of memories",
        "Decay lowers the strength of unused memories.", "A link slows the decay of a memory.",
        "Decisions decay slower than insights.",
        "The half-life of decay is 30 days.", "The half-life of decay is 60 days.",
    ),
    "webhook": (
        "send events to the webhook", "webhook|event", "Webhook events",
        "A webhook event holds the id and the kind.", "Webhook addresses are checked before each event.",
        "Events of one write are sent together.",
        "Failed webhook events are retried.", "Failed webhook events are never retried.",
    ),
    "extraction": (
        "extract memories from a transcript", "transcript|extraction", "Extraction from transcripts",
        "The transcript is cut before extraction.", "Extraction skips what was injected.",
        "Each transcript is read once.",
        "Extraction from transcripts is enabled.", "Extraction from transcripts is not enabled.",
    ),
    "entities": (
        "link memories to entities", "entity|entities", "Entities of memories",
        "An entity has a kind and a slug.", "Paths name the entity of a memory.",
        "Several entities that fit are listed.",
        "Use uppercase for entities.", "Use lowercase for entities.",
    ),
}  # fmt: skip
