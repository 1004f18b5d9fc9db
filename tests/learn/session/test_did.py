"""What tools did is read the same from every host: the command, the file, what is new in it, and whether it failed."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rawkomem.learn.transcripts import Transcript
from rawkomem.learn.turns import TOOL, Did, Turn, calls_asked, exit_failed

SAMPLES = sorted((Path(__file__).parent / "data" / "tools").iterdir())
RULE = "- Run `make db` before `make test`."
SILENT = "cursor"  # records no results


def tools(data: bytes) -> list[Turn]:
    return [turn for turn in Transcript(io.BytesIO(data)).turns() if turn.role == TOOL]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_every_host_tells_what_failed_what_was_written_and_what_passed(sample):
    turns = tools(sample.read_bytes())
    asked = [turn.did for turn in turns if not turn.text and turn.did.failed is None]
    assert [did.command for did in asked if did.command.startswith("make")] == ["make test", "make test"]
    assert [(did.file, did.written) for did in asked if did.written] == [("/x/CLAUDE.md", RULE)]
    results = [turn for turn in turns if turn.did.failed is not None]
    if sample.stem == SILENT:
        assert not results and len(asked) == 4
        return
    assert [turn.did.failed for turn in results] == [True, False, False, False]
    assert [turn.did.command for turn in results if turn.did.command.startswith("make")] == ["make test", "make test"]
    assert "refused" in results[0].text and "42 passed" in results[3].text
    assert [turn.did.id for turn in results] == [did.id for did in asked], "a call and its result have one id"
    assert all(turn.tool for turn in turns) or sample.stem == "codex"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_what_people_say_beside_tools_stays(sample):
    turns = Transcript(io.BytesIO(sample.read_bytes())).turns()
    assert [(turn.role, turn.text) for turn in turns if turn.role != TOOL] == [
        ("user", "Make the tests pass."),
        ("assistant", "They pass."),
    ]


@pytest.mark.parametrize(
    ("given", "done"),
    [
        ({"command": ["bash", "-lc", "ls -l"]}, [Did("i", "ls -l")]),
        ({"command": ["ls", "-l"]}, [Did("i", "ls -l")]),
        ({"command": "view", "path": "a.md"}, [Did("i", file="a.md")]),
        ({"path": "src/shop", "pattern": "x"}, [Did("i")]),
        ({"command": "create", "path": "a.md", "file_text": "x"}, [Did("i", file="a.md", written="x")]),
        ({"file_path": "a.md", "content": ""}, [Did("i", file="a.md", written="")]),
        ({"notebook_path": "a.ipynb", "new_source": "x = 1"}, [Did("i", file="a.ipynb", written="x = 1")]),
        (
            {
                "file_path": "a.md",
                "edits": [
                    {"old_string": "a", "new_string": "a\nb"},
                    {"old_string": "c", "new_string": "d"},
                ],
            },
            [Did("i", file="a.md", written="b\nd")],
        ),
        (
            {"command": "apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n-y\n+z\nE"},
            [Did("i", file="a", written="x"), Did("i", file="b", written="z")],
        ),
        (
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n+x\n*** Delete File: c\n*** End Patch",
            [Did("i", file="b", written="x"), Did("i", file="c")],
        ),
        ({"text": "hello"}, [Did("i")]),
        (None, [Did("i")]),
        ({"command": 7, "edits": [3], "path": ["a"]}, [Did("i")]),
    ],
)
def test_calls(given, done):
    assert [*calls_asked("i", given)] == done


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("Exit code: 1\nWall time: 1 seconds\nOutput:\nx", True),
        ("Process exited with code 0\nOutput:\nx", False),
        ("x\n<exited with exit code 3>", True),
        ("Exit Code: 0", False),
        ("the process ended with exit code 1 yesterday", None),
        ("", None),
    ],
)
def test_exit_codes(output, failed):
    assert exit_failed(output) is failed
