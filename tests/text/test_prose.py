"""Sentences and wikilinks of Markdown bodies."""

import pytest
from rawkomem.format.blocks import wikilinks_in
from rawkomem.text.prose import sentences, without_code

from tests.cpu import cpu_seconds


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Python 3.11 is needed, e.g. By the installer. It is.", ["Python 3.11 is needed, e.g. By the installer.", "It is."]),
        ('He said "stop." Then it stopped.', ['He said "stop."', "Then it stopped."]),
        ("broken\nover lines\n\nnext", ["broken over lines", "next"]),
        ("> Quoted text.\n> More of it.", ["Quoted text.", "More of it."]),
        ("一つ目。二つ目。", ["一つ目。", "二つ目。"]),
        ("# Heading\n\n| a | b |\n|---|---|\n\n---\n\n```\ncode. Code.\n```\nText.", ["Text."]),
        ("", []),
    ],
)  # fmt: skip
def test_sentences(body, found):
    assert sentences(body) == found


def test_an_item_keeps_what_leads_to_its_list():
    """Under "Do not", an item alone would say the opposite."""
    assert sentences("## Do not\n\n- open the file\n- close it. Ever.") == [
        "Do not: open the file",
        "Do not: close it.",
        "Ever.",
    ]
    assert sentences("It rests. Never:\n1. sleep\n2) eat\n\nText.\n\n* free") == [
        "It rests.",
        "Never: sleep",
        "Never: eat",
        "Text.",
        "free",
    ]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("See [[why-apsw]] and [[mem_1|the other]].", ("why-apsw", "mem_1")),
        ("[[lessons/a.md]] [[a#2]] [[Ünï cödé]] ![[picture]]", ("lessons/a.md", "a#2", "Ünï cödé", "picture")),
        ("[[a]] [[b]] [[a]]", ("a", "b")),
        ("if [[ -f file ]]; then [[]] [[x", ()),
        ("`[[code]]` ``[[also `code]]`` [[link]] ` [[open]]", ("link", "open")),
        ("```sh\n[[fenced]]\n```\n[[after]]\n~~~\n[[open fence]]", ("after",)),
        ("[[a\nb]] [[[c]]]", ("c",)),
    ],
)
def test_wikilinks(body, names):
    assert wikilinks_in(body) == names


@pytest.mark.parametrize("line", ["`" * 1, "a`b", "``a`", "```a``b`"])
def test_an_open_code_span_is_text(line):
    assert without_code(line) == line


@pytest.mark.time
def test_hostile_lines_take_linear_time():
    for line in ("`a``b" * 40_000, "[[" * 100_000, "[[x|" * 50_000, "a. " * 60_000, "`" * 200_000):
        assert cpu_seconds(lambda line=line: (wikilinks_in("[[" + line), sentences(line))) < 2
