"""The parser for hot commands takes plain forms and leaves everything else to click; other commands load little."""

import subprocess
import sys

import pytest
from rawkomem.faces.cli.options import parse_plain

LISTS = ("kind", "tag", "type", "category", "entity", "by", "from_session", "include")
TEXTS = ("since", "until", "trust", "filter", "importance")
PLAIN = {
    "limit": 10,
    **{name: [] for name in LISTS},
    **dict.fromkeys(TEXTS, ""),
    "profile": "",
    "min_similarity": "0",
    "explain": False,
    "as_json": False,
}


@pytest.mark.parametrize(
    ("words", "folder", "changed", "arguments"),
    [
        ("search x", "", {}, ["x"]),
        ("search x y --json", "", {"as_json": True}, ["x", "y"]),
        ("search -n 3 x --tag a --tag=b", "", {"limit": 3, "tag": ["a", "b"]}, ["x"]),
        ("-C /tmp search x", "/tmp", {}, ["x"]),
        ("search x --since 7d --from-session=s1", "", {"since": "7d", "from_session": ["s1"]}, ["x"]),
        ("search -- --json", "", {}, ["--json"]),
    ],
)
def test_plain(words, folder, changed, arguments):
    assert parse_plain(words.split()) == (folder, "search", {**PLAIN, **changed}, arguments)


@pytest.mark.parametrize(
    "words",
    ["", "search", "list", "--help", "search --help", "search x -n", "search x -nfoo", "search x --limit many",
     "search x --json=1", "search x --what", "-C search x"],
)  # fmt: skip
def test_left_to_click(words):
    assert parse_plain(words.split()) is None


def test_a_listing_loads_neither_numpy_nor_an_http_client(rawkomem, project):
    rawkomem("add", "Backups run at night.")
    code = "import sys; from rawkomem.faces.cli import run; run(sys.argv[1:]); print({'numpy', 'http.client', 'ssl'} & {*sys.modules})"
    for words in (["list"], ["show", "backups-run-at-night"], ["drafts"]):
        printed = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=project, capture_output=True, check=True, text=True
        )
        assert printed.stdout.endswith("set()\n"), printed.stdout
