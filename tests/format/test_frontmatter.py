"""The event-level YAML reader, and python-frontmatter on top of it."""

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.format.frontmatter import read_frontmatter
from rawkomem.format.handler import RawkoHandler
from rawkomem.model.entries import Unreadable


def values(text: str) -> dict[str, object]:
    return {key: field.value for key, field in read_frontmatter(text)[0].items()}


def test_scalars_stay_text():
    text = "a: no\nb: 010\nc: 12:30:45\nd: 2026-01-23\ne: 1e3\nf: ~\ng: 'x'\nh: {i: [1, on]}\n"
    assert values(text) == {
        "a": "no", "b": "010", "c": "12:30:45", "d": "2026-01-23", "e": "1e3", "f": "~", "g": "x", "h": {"i": ["1", "on"]},
    }  # fmt: skip


def test_null_is_told_from_a_quoted_tilde():
    fields, _ = read_frontmatter("a: ~\nb: '~'\nc:\nd: ''\n")
    assert [field.missing for field in fields.values()] == [True, False, True, False]


@pytest.mark.parametrize(
    ("text", "says", "line"),
    [
        ("a: 1\na: 2\n", "duplicate key", 2),
        ("a: &x [1]\nb: *x\n", "aliases", 2),
        ("a: 1\nb: !custom x\n", "tag", 2),
        ("%YAML 1.1\n---\na: 1\n", "directives", 1),
        ("a: 1\n...\nb: 2\n", "not valid YAML", 3),
        ("- a\n- b\n", "must be a mapping", 1),
        ("a: {{ x }}\n", "key must be plain text", 1),
        ("a:\n\t- x\n", "not valid YAML", 2),
        ("a: @x\n", "not valid YAML", 1),
        ('a: "\\d"\n', "unknown escape", 1),
        ("a: " + "[" * 9 + "]" * 9 + "\n", "nested deeper", 1),
        ("a: " + "x" * 70_000 + "\n", "64 KiB", 1),
        ("\n".join(f"k{n}: v" for n in range(5000)), "more than 4000", 2000),
        ("<<<<<<< HEAD\na: 1\n", "merge conflict", 1),
        ('a: 1\nb: "x\x9by"\n', "does not allow", 2),
    ],
)
def test_refused_with_a_line(text, says, line):
    with pytest.raises(Unreadable) as failure:
        read_frontmatter(text)
    assert says in failure.value.problem.message and failure.value.problem.line == line


def test_empty_items_of_a_list_are_dropped_with_a_warning():
    fields, problems = read_frontmatter('tags: [a, , ~, ""]\n')
    assert fields["tags"].value == ["a", "", ""] and "empty item" in problems[0].message


def test_a_unicode_line_separator_starts_no_document():
    fields, problems = read_frontmatter("title: a\u2028---\u2028b\n")
    assert fields["title"].value == "a --- b" and problems


@given(st.text(max_size=200))
def test_any_text_reads_or_is_unreadable(text):
    try:
        fields, _ = read_frontmatter(text)
    except Unreadable as failure:
        assert failure.problem.message and failure.problem.line >= 1
    else:
        assert all(isinstance(key, str) for key in fields)


def test_behind_python_frontmatter():
    post = frontmatter.loads("---\ntitle: no\ntags: [1]\n---\nbody\n", handler=RawkoHandler())
    assert post.metadata == {"title": "no", "tags": ["1"]} and post.content == "body"
    again = frontmatter.loads(frontmatter.dumps(post, handler=RawkoHandler()), handler=RawkoHandler())
    assert again.metadata == post.metadata
    with pytest.raises(Unreadable):
        frontmatter.loads("---\na: &x 1\nb: *x\n---\n", handler=RawkoHandler())
