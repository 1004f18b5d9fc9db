"""Logs in the three forms that are found in the wild."""

from __future__ import annotations

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

```yaml
experience_id: exp_2
primary_goal: Deploy it
final_outcome: failure
```
"""
BULLETS = """# Memory Log

## Entry 1

- **experience_id**: exp_3
- **primary_goal**: Deploy the site
- **components_used**: planner, docker
- **final_outcome**: success_with_recovery

- **experience_id**: exp_4
- **primary_goal**: Deploy it again
"""
PROSE = """# System log

## [2024-03-01T10:00:00Z] Fixed the login page

The cookie was missing.

### Detail
It is set by the proxy.

## [2024-03-02T10:00:00Z]

Wrote the manual in one go.
"""


def entries(text: str):
    reading = read_data(text.encode(), "log/old.md")
    assert reading.verdict == ACCEPT_WARN and reading.problems[0].code == "old-log"
    assert all(entry.kind == "experience" and not entry.draft for entry in reading.entries)
    return reading.entries


def test_yaml_blocks_with_and_without_a_fence():
    first, second = entries(YAML)
    assert (first.id, first.title, first.at, first.body) == (
        "exp_1",
        "Build a plot",
        1_704_110_400_000,
        "It was quick.",
    )
    assert first.extra == {"final_outcome": "success", "components_used": ["python"]}
    assert (second.id, second.title, second.extra) == ("exp_2", "Deploy it", {"final_outcome": "failure"})


def test_bullets():
    first, second = entries(BULLETS)
    assert (first.id, first.title, first.extra["components_used"]) == (
        "exp_3",
        "Deploy the site",
        ["planner", "docker"],
    )
    assert (second.id, second.title) == ("exp_4", "Deploy it again")


def test_prose_under_times():
    first, second = entries(PROSE)
    assert (first.id, first.title, first.at) == ("old", "Fixed the login page", 1_709_287_200_000)
    assert "The cookie was missing." in first.body and "It is set by the proxy." in first.body
    assert (second.id, second.title) == ("old#2", "Wrote the manual in one go.")


@pytest.mark.parametrize(
    "text", ["Just a note.\n", "# A heading\n\nand text\n", "```\nexperience_id\n```\n", "- **bold** text\n"]
)
def test_what_is_no_log_stays_a_draft(text):
    (entry,) = read_data(text.encode(), "log/note.md").entries
    assert entry.draft


def test_only_in_the_log_folder():
    (entry,) = read_data(PROSE.encode(), "memories/old.md").entries
    assert entry.draft


def test_old_logs_are_found_as_experiences_and_new_entries_go_beside_them(project, repository, rawkomem):
    folder = project / ".rawko" / "log"
    folder.mkdir()
    (folder / "memory_log.md").write_text(BULLETS)
    assert "exp_5" in rawkomem("trace", "log", "add", "--goal", "Something new").stdout
    assert (folder / "memory_log.md").read_text() == BULLETS and (folder / "memory_log-2.md").exists()
    logged = [row for row in repository.list() if row.kind == "experience"]
    assert len(logged) == 3 and {row.id for row in logged} > {"exp_3", "exp_4"}
    assert repository.search("deploy the site")[0].row.id == "exp_3"
