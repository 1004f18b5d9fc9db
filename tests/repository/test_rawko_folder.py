"""A `.rawko` folder as SPEC-0009 describes it is read as it is, and stays as it is."""

from rawkomem.repository import Repository

FILES = {
    "database-schema.md": """\
---
title: "Database Schema"
whenToUse:
  - "schema|migration|table"
  - "When changing the ledger tables"
tags: [database, important]
importance: critical
discoveredAt: 2026-01-23T10:30:00Z
discoveredBy: planner
discoveredIn: "Task: Add invoices"
relatedMemories: [queue-pattern.md]
---

# Database Schema

Invoices refer to ledgers by `ledger_id`.


---

---
title: "Ledger rows are immutable"
whenToUse: ["update.*ledger"]
tags: [database]
importance: high
discoveredAt: 2026-01-24T10:30:00Z
discoveredBy: developer
---

# Ledger rows are immutable

Write a correcting row.
""",
    "queue-pattern.md": """\
---
title: Queue Pattern
whenToUse:
  pattern: "queue|worker"
tags: [patterns]
importance: medium
discoveredAt: 2026-01-23T10:40:00Z
discoveredBy: tester
---
Workers acknowledge after the commit.
""",
    "half-done.md": "# Notes\n\nTo be written.\n",
}


def test_the_folder_is_read_and_not_changed(tmp_path):
    memories = tmp_path / ".rawko" / "memories"
    memories.mkdir(parents=True)
    for name, text in FILES.items():
        (memories / name).write_text(text)
    with Repository.open(tmp_path) as repository:
        repository.sync()
        assert {row.title for row in repository.list()} >= {
            "Database Schema",
            "Ledger rows are immutable",
            "Queue Pattern",
        }
        task = repository.inject("write a migration for the invoices", agent="planner", profile="rawko")
        assert "Database Schema" in task.text and "Ledger rows are" not in task.text
        assert "Workers acknowledge" in repository.inject("a worker for the queue", profile="rawko").text
        schema = repository.get("database-schema")
        assert (schema.importance, schema.by, schema.found_in) == ("critical", "planner", "Task: Add invoices")
    assert {file.name: file.read_text() for file in memories.iterdir()} == FILES
