"""Logs with a text before their first experience."""

import pytest
from rawkomem.files.reading import ACCEPT_WARN, read_data

YAML = """# Memory Log

Kept by the system.

---
experience_id: exp_1
primary_goal: Build a plot
final_outcome: success
components_used:
  - python
timestamp: "2024-01-01T12:00:00.000Z"
---

It was quick.

---
experience_id: exp_2
primary_goal: Deploy the site
final_outcome: failure
---
"""


def entries(text: str):
    reading = read_data(text.encode(), "log/old.md")
    assert reading.verdict == ACCEPT_WARN and reading.problems[0].code == "old-log"
    assert all(entry.kind == "experience" and not entry.draft for entry in reading.entries)
    return reading.entries


def test_a_text_before_the_first_experience():
    first, second = entries(YAML)
    assert (first.id, first.title, first.at, first.body) == (
        "exp_1",
        "Build a plot",
        1_704_110_400_000,
        "It was quick.",
    )
    assert first.extra == {"final_outcome": "success", "components_used": ["python"]}
    assert (first.line, second.line) == (5, 16)
    assert (second.id, second.title, second.extra) == ("exp_2", "Deploy the site", {"final_outcome": "failure"})


@pytest.mark.parametrize(
    "text",
    ["Just a note.\n", "# A heading\n\nand text\n", "```\nexperience_id\n```\n", "text\n---\nexperience_id\n---\n"],
)
def test_what_is_no_log_stays_a_draft(text):
    (entry,) = read_data(text.encode(), "log/note.md").entries
    assert entry.draft


def test_old_logs_are_found_as_experiences_and_new_entries_go_beside_them(project, repository, rawkomem):
    folder = project / ".rawko" / "log"
    folder.mkdir()
    (folder / "memory_log.md").write_text(YAML)
    assert "log/memory_log-2.md" in rawkomem("trace", "log", "add", "--goal", "Something new").stdout
    assert (folder / "memory_log.md").read_text() == YAML and (folder / "memory_log-2.md").exists()
    logged = [row for row in repository.list() if row.kind == "experience"]
    assert len(logged) == 3 and {row.id for row in logged} > {"exp_1", "exp_2"}
    assert repository.search("deploy the site", kind="experience")[0].row.id == "exp_2"
