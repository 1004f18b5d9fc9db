"""Files in the schema of LLMos: traces and experiences that have no `title`, read as what they are and written alike."""

import pytest
from rawkomem.files.reading import ACCEPT, read_data
from rawkomem.format.frontmatter import emit_entry
from rawkomem.model.entries import Entry

TRACE = """---
trace_id: trace-1704110400000-abc123
timestamp: "2024-01-01T12:00:00.000Z"
goal: "Create an FFT plot"
status: success
duration_ms: 12345
tools_used:
  - python
files_created:
  - plot.py
---

# Execution Trace: Create an FFT plot

## Learnings
- Use a window function.
"""
EXPERIENCES = """---
experience_id: exp_7
project_name: alpha
primary_goal: Build the site
final_outcome: success_with_recovery
components_used:
  - planner
files_created: 3
output_summary: It is up.
learnings_or_issues: |
  Check the certificate first.
timestamp: "2024-01-01T12:00:00.000Z"
---

---
experience_id: exp_8
primary_goal: Move the site
final_outcome: failure
---
"""


def read(text: str, path: str = "traces/2024-01/x.md"):
    return read_data(text.encode(), path)


def test_a_trace_of_llmos_is_a_trace_and_no_draft():
    reading = read(TRACE)
    (entry,) = reading.entries
    assert reading.verdict == ACCEPT and not entry.draft
    assert (entry.kind, entry.id, entry.title) == ("trace", "trace-1704110400000-abc123", "Create an FFT plot")
    assert entry.at == 1_704_110_400_000
    assert dict(entry.extra) == {
        "status": "success", "duration_ms": "12345", "tools_used": ["python"], "files_created": ["plot.py"],
    }  # fmt: skip


def test_the_blocks_of_a_log_are_experiences():
    first, second = read(EXPERIENCES, "log/memory_log.md").entries
    assert (first.kind, first.id, first.title, first.extra["files_created"]) == (
        "experience",
        "exp_7",
        "Build the site",
        "3",
    )
    assert first.body == "It is up.\n\nCheck the certificate first."  # so that it is found by what was learned
    assert (second.kind, second.id, second.draft) == ("experience", "exp_8", False)


@pytest.mark.parametrize(
    ("head", "title", "goal"),
    [
        ("kind: trace\nid: t1\ntitle: Mine\ngoal: Theirs", "Mine", "Theirs"),  # our keys win, and theirs are kept
        ("kind: trace\nid: t1\ngoal: Theirs", "Theirs", None),
        ("trace_id: t1\ngoal: Theirs\nby: me", "Theirs", None),
    ],
)
def test_their_keys_stand_in_for_ours_only_where_ours_are_missing(head, title, goal):
    (entry,) = read(f"---\n{head}\n---\n\nText.\n").entries
    assert (entry.id, entry.title, entry.extra.get("goal")) == ("t1", title, goal)


def test_a_trace_without_a_goal_is_a_draft_that_says_so():
    reading = read("---\ntrace_id: t1\n---\n\nText.\n")
    assert reading.entries[0].draft and "no title" in reading.problems[0].message


@pytest.mark.parametrize("kind", ["trace", "experience"])
def test_what_is_written_reads_back(kind):
    extra = {"status": "failure", "duration_ms": "12", "learnings_or_issues": "one\n\n  two: 2\n--- three"}
    entry = Entry(kind=kind, id="exp_1", title="Do: it", at=1_704_110_400_000, by="me", body="Text.", extra=extra)
    text = emit_entry(entry)
    assert "kind:" not in text and "title:" not in text and "importance" not in text and "duration_ms: 12\n" in text
    (again,) = read(text).entries
    assert (again.kind, again.id, again.title, again.at, again.by) == (kind, "exp_1", "Do: it", entry.at, "me")
    assert dict(again.extra) == extra and again.body.startswith("Text.")


def test_a_field_with_one_of_their_names_keeps_its_value():
    entry = Entry(kind="trace", id="t1", title="Mine", extra={"goal": "Theirs"}, body="Text.")
    (again,) = read(emit_entry(entry)).entries
    assert (again.title, again.extra) == ("Mine", {"goal": "Theirs"})
