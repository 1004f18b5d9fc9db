"""What is done of each source is remembered, and can be forgotten."""

from __future__ import annotations

from rawkomem.files.layout import Layout
from rawkomem.files.machine_records import LEARNED_FILE, LearnedParts


def test_done_parts_are_known_to_the_next_run(project):
    layout = Layout(str(project / ".rawko"))
    done = LearnedParts(layout)
    done.add("/a.jsonl", "part-1")
    done.add("/b.jsonl", "part-1")
    assert done.has("/a.jsonl", "part-1") and LearnedParts(layout).has("/a.jsonl", "part-1")
    assert not LearnedParts(layout).has("/a.jsonl", "part-2") and not LearnedParts(layout).has("/c.jsonl", "part-1")
    done.forget(["/a.jsonl", "/never.jsonl"])
    for one in (done, LearnedParts(layout)):
        assert not one.has("/a.jsonl", "part-1") and one.has("/b.jsonl", "part-1")


def test_a_torn_line_is_no_obstacle_and_no_name_is_written(project):
    layout = Layout(str(project / ".rawko"))
    LearnedParts(layout).add("/secret-project/a.jsonl", "part-1")
    file = project / ".rawko" / "local" / LEARNED_FILE
    assert "secret" not in file.read_text()
    file.write_text(file.read_text() + "17000")
    done = LearnedParts(layout)
    assert done.has("/secret-project/a.jsonl", "part-1")
    done.add("/b", "part-2")
    assert LearnedParts(layout).has("/b", "part-2")
