"""Pictures are valid for any title."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.state.graph import MERMAID_EDGES, Edge, Picture, as_mermaid, picture_of

from tests.state.graph.test_graph import graph_of, memory

NODE = re.compile(r'  n\d+(\["[^"\n]+"\]|\(\["[^"\n]+"\]\))')
EDGE = re.compile(r'  n\d+ (-->|-\.-)\|"[^"\n]+"\| n\d+')
NASTY = ['"]; click n0 "javascript:alert(1)"', "a\\", '\\"', "1. one", "- two", "`md`", "end", "#quot;", "<b>&amp;</b>",
         "| x |", "%% comment", "a\nb", "{{x}}", "日本語", "\u202eevil", "]]>"]  # fmt: skip


def check(made: Picture) -> None:
    first, *lines = as_mermaid(made).splitlines()
    assert first == "flowchart LR"
    assert all(NODE.fullmatch(line) for line in lines[: len(made.memories)])
    assert all(EDGE.fullmatch(line) for line in lines[len(made.memories) :])


@pytest.mark.parametrize("title", NASTY)
def test_no_title_breaks_out_of_its_label(title):
    made = picture_of(graph_of(memory("a", title=title, links=((title, "b"),)), memory("b", kind="episode")), "", 1, 0)
    check(made)
    label = as_mermaid(made).splitlines()[1]
    assert "<" not in label and "`" not in label and not re.search(r'\["[-+*\d]+[.) ]', label)


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=40))
def test_any_text_is_drawn(title, id):
    check(Picture((memory(id, title=title), memory(id + "2")), (Edge(id, id + "2", "similar", 0.71),), 0))


def test_mermaid_gets_no_more_edges_than_it_draws():
    ids = [f"m{n}" for n in range(40)]
    similar = [(a, b, 0.6) for a in ids for b in ids if a < b]
    made = picture_of(graph_of(memory("z", links=(("causes", "m1"),)), *map(memory, ids), similar=similar), "", 1, 0)
    drawn = [line for line in as_mermaid(made).splitlines() if EDGE.fullmatch(line)]
    assert len(made.edges) == 781 and len(drawn) == MERMAID_EDGES and made.edges_left_out == 281
    assert "causes" in drawn[0]
