"""Plain lines are read without YAML, and never differently from YAML."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rawkomem.format.frontmatter import PLAIN_LINE, read_plain
from rawkomem.format.yaml_mapping import read_yaml

SIGNS = "ab Z0_/.,:@+()$=%;!?'\"*~^<>&-[]{}#|\\\t`é–\u00ad"
pieces = st.sampled_from([*SIGNS, "null", "true", ": ", ", ", " #", "- ", "...", "12:30", "[a, b]", '"x"', "key"])
said = st.lists(pieces, max_size=8).map("".join)
plain = st.from_regex(PLAIN_LINE, fullmatch=True)
lines = st.one_of(plain, plain, said.map("key: {}".format), said)


@given(st.lists(lines, min_size=1, max_size=4).map(lambda some: "".join(f"{line}\n" for line in some)))
@example("a: [null, ~x, b]\n")
@example("a: it's\nb: x - y\nc: (x) <y>\n")
@example("a: x:y:/z\n")
def test_what_is_read_without_yaml_is_what_yaml_reads(text):
    fields = read_plain(text, 7)
    if fields is not None:
        problems = []
        assert read_yaml(text, 7, problems) == fields
        assert problems == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("at: 2026-01-01T00:00:00.500Z\n", "2026-01-01T00:00:00.500Z"),
        ("title: Use apsw, not sqlite3\n", "Use apsw, not sqlite3"),
        ('title: "Größe: 5 – 10"\n', "Größe: 5 – 10"),
        ("tags: [a, null, b c]\n", ["a", "", "b c"]),
        ("kind: ~\n", None),
        ("title:\n", None),
        ("a: 1\na: 2\n", None),
        ("a: 1", None),
        ("", None),
        ('a: "\\n"\n', None),
    ],
)
def test_what_is_plain(text, value):
    fields = read_plain(text, 1)
    assert (fields and next(iter(fields.values())).value) == value
