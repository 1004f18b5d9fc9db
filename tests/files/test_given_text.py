"""K7: a file or a pipe that is not UTF-8 is one line with the place and what to do, never a traceback."""

import os
import subprocess
import sys

import pytest
from rawkomem.files.layout import decode_text, read_text_file
from rawkomem.model.errors import BadInput

LATIN = "---\ntitle: Café\n---\n\nÜber.\n".encode("latin-1")
STORED = [
    ("add", "-f", "FILE"),
    ("amend", "ID", "-f", "FILE"),
    ("lesson", "import", "FILE"),
    ("skill", "add", "FILE"),
    ("add", "--title", "x", "--body", "-"),
    ("lesson", "import", "-"),
    ("skill", "add", "-"),
    ("evolve", "-"),
    ("trace", "add", "--goal", "x"),
    ("trace", "log", "add", "--goal", "x", "--learnings", "-"),
]
ASKED = [("inject", "-"), ("search", "-"), ("try", "match", "x", "-"), ("scrub",), ("context", "--goal", "-")]


def run(project, *words: str) -> subprocess.CompletedProcess[bytes]:
    around = {**os.environ, "PYTHONUTF8": "1", "PYTHONIOENCODING": ""}
    return subprocess.run(
        [sys.executable, "-m", "rawkomem", "-C", str(project), *words],
        input=LATIN,
        capture_output=True,
        env=around,
        check=False,
    )


@pytest.mark.parametrize("words", STORED, ids=" ".join)
def test_what_is_stored_must_be_text(words, project, repository, rawkomem):
    from rawkomem.model.entries import Entry

    id = repository.add(Entry(title="There", body="Before.")).entry.id
    (project / "latin.md").write_bytes(LATIN)
    names = {"FILE": str(project / "latin.md"), "ID": id}
    said = rawkomem(*(names.get(word, word) for word in words), input=LATIN, check=2).stderr
    assert "is not UTF-8 text (line " in said and "iconv" in said, said
    assert (
        "latin.md" if "FILE" in words else "stdin" if words[0] == "lesson" else "standard input"
    ) in said and "Traceback" not in said
    assert [row.title for row in repository.list()] == ["There"]


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_a_question_may_hold_any_bytes(words, rawkomem):
    assert rawkomem(*words, input=LATIN, check=None).returncode in (0, 1)


def test_so_it_is_in_a_process_with_its_own_streams(project):
    done = run(project, "add", "--title", "x", "--body", "-")
    said = done.stderr.decode()
    assert done.returncode == 2 and "is not UTF-8 text (line " in said and "Traceback" not in said, said


def test_line_ends_and_the_byte_order_mark_go():
    assert decode_text(b"\xef\xbb\xbfa\r\nb", "x") == "a\nb"
    assert decode_text(b"a\xff", "x", strict=False) == "a\ufffd"


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadInput, match=r"cannot read .*No such file"):
        read_text_file(str(tmp_path / "none.md"))
