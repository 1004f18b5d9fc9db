"""Splitting a file into entries, and the append law."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.format.blocks import append_holds, cut_pieces, join_entry, split_blocks


def said(text: str) -> list[tuple[object, str]]:
    return [
        (block.fields and {k: f.value for k, f in block.fields.items()}, block.body) for block in split_blocks(text)
    ]


def entry(title: str, body: str = "") -> str:
    return f"---\ntitle: {title}\n---\n\n{body}\n"


def test_an_appended_entry_is_a_second_one():
    assert said(entry("A", "one") + "\n---\n\n" + entry("B", "two")) == [
        ({"title": "A"}, "one"),
        ({"title": "B"}, "two"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "one\n\n---\n\ntwo",
        "Heading\n---\n\ntext",
        "```\n---\ntitle: inner\n---\n```",
        "````\n```\n---\ntitle: inner\n---\n````",
        "~~~\n---\ntitle: inner\n---\n~~~",
        "<!--\n---\ntitle: hidden\n---\n-->",
        "---\nnot: an entry\n---",
        "text\n  ---\ntitle: indented\n  ---",
        "----\ntitle: four dashes\n----",
    ],
)
def test_what_is_no_boundary(body):
    assert said(entry("A", body)) == [({"title": "A"}, body)]


def test_a_broken_entry_is_kept_apart_as_a_draft():
    blocks = split_blocks(entry("A", "one") + "\n---\n\n---\ntitle: B\ntitle: EVIL\n---\n\ntwo\n")
    assert [block.fields and block.fields["title"].value for block in blocks] == ["A", None]
    assert blocks[0].body == "one" and blocks[1].body == "two"
    assert "duplicate key" in blocks[1].problems[0].message and blocks[1].problems[0].line == 11


def test_lines_are_counted_from_one():
    blocks = split_blocks(entry("A", "one") + "\n---\n\n" + entry("B", "two"))
    assert [(block.line, block.body_line) for block in blocks] == [(1, 5), (9, 13)]


def test_twenty_thousand_delimiters_take_linear_time():
    assert len(split_blocks("---\n" * 20_000)) == 1


def test_an_entry_below_an_open_fence_would_not_be_seen():
    assert not append_holds(entry("A", "```\nopen"), entry("B"))
    assert not append_holds(entry("A", "<!-- open"), entry("B"))
    assert not append_holds("just text", entry("B"))
    assert append_holds(entry("A", "```\nclosed\n```"), entry("B"))
    assert append_holds(entry("A", "a rule at the end\n\n---"), entry("B"))


def test_joining_changes_no_byte_before_and_follows_the_line_ends():
    crlf = entry("A", "one").replace("\n", "\r\n")
    joined = join_entry(crlf, entry("B", "two"))
    assert joined.startswith(crlf) and "\n" not in joined.replace("\r\n", "")


PIECES = st.lists(
    st.sampled_from(
        ["---", "--- ", "----", "title: x", "kind: memory", "```", "````", "~~~", "<!--", "-->", "text", "", "# H", "- a",
         "a: b: c", "```py", "  ```", "title: [", "..."]
    ),
    max_size=14,
)  # fmt: skip


@given(PIECES, PIECES)
def test_append_law(first, second):
    """Where the writer's proof says yes, the text reads as both parts; where it says no, the law would be broken."""
    a, b = entry("A", "\n".join(first)), entry("B", "\n".join(second))
    holds = said(join_entry(a, b)) == said(a) + said(b)
    assert append_holds(a, b) == holds
    if not any(line.lstrip().startswith(("```", "~~~", "<!--", "---")) for line in first):
        assert holds


@given(st.text(alphabet="-`~<!> \n\tatile:x#", max_size=300))
def test_any_text_splits_without_an_exception(text):
    blocks = split_blocks(text)
    assert bool(blocks) == bool(text.strip())


@pytest.mark.parametrize("end", ["...", "... ", "...\t"])
def test_yamls_document_end_closes_a_frontmatter(end):
    text = f"---\ntitle: Pandoc\ntags: [a]\n{end}\n\nAbove.\n...\nBelow.\n\n---\n\n" + entry("Next", "two")
    text = join_entry(text, f"---\nkind: amend\nabout: x\n{end}\n\nthree\n")
    assert [block.body for block in split_blocks(text)] == ["Above.\n...\nBelow.", "two", "three"]
    assert [block.line for block in split_blocks(text)] == [1, 12, 20]
    assert not any(block.problems for block in split_blocks(text))


def test_a_yaml_stream_of_documents_is_an_entry_each():
    blocks = split_blocks("---\ntitle: A\n...\n---\ntitle: B\n...\nbody\n")
    assert said("---\ntitle: A\n...\n---\ntitle: B\n...\nbody\n") == said(entry("A", "") + entry("B", "body"))
    assert [block.line for block in blocks] == [1, 4]


def test_entries_after_the_document_end_are_appended_and_cut_like_others():
    text = "---\ntitle: A\n...\n\none\n"
    assert append_holds(text, entry("B", "two")) and append_holds(entry("B", "two"), text)
    joined = join_entry(text, entry("B", "two"))
    _, pieces = cut_pieces(joined, [block.line for block in split_blocks(joined)])
    assert [piece.text for piece in pieces] == [text.rstrip(), entry("B", "two").rstrip()]
