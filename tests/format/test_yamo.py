"""YAMO blocks: what is written reads back, both forms are read, and nothing that is read raises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.format.yamo import (
    PRIORITIES,
    YAMO_OPERATIONS,
    YamoBlock,
    build_block,
    emit_yamo,
    read_yamo_block,
    read_yamo_blocks,
    yamo_value,
)
from rawkomem.model.values import replace

AT = 1_769_164_200_123
NAMES = st.from_regex(r"[A-Za-z0-9_]{1,20}", fullmatch=True)
ANY = st.text(max_size=60)
VALUES = ANY.map(yamo_value)  # what a line can carry
PAIRS = st.lists(st.tuples(NAMES, VALUES), min_size=1, max_size=4).map(tuple)
SENTENCES = st.lists(st.tuples(st.just(""), VALUES), max_size=2).map(tuple)
BLOCKS = st.builds(
    YamoBlock,
    agent=NAMES,
    intent=NAMES,
    context=PAIRS,
    constraints=st.builds(lambda pairs, more: pairs + more, PAIRS, SENTENCES) | st.just(()),
    priority=st.sampled_from((*PRIORITIES, "")),
    output=PAIRS,
    meta=PAIRS | st.just(()),
    log=st.lists(VALUES, min_size=1, max_size=5).map(tuple).filter(lambda log: log != ("",)),
    handoff=VALUES.filter(bool),
)
ARGUMENTS = {
    "retain": ("id", "type", "length", "preview", "hypothesis"),
    "recall": ("query", "limit", "filter", "found", "score", "confidence"),
    "reflect": ("id", "topic", "sources", "preview", "confidence"),
    "synthesize": ("id", "name", "sources", "preview"),
    "lesson": (
        "id",
        "pattern",
        "situation",
        "oversight",
        "fix",
        "preventative_rule",
        "severity",
        "applicable_scope",
        "inverse_lesson",
        "confidence",
    ),
    "delete": ("id", "reason"),
}
RETAIN = """\
agent: MemoryMesh_planner;
intent: store_memory_for_future_retrieval;
context:
  memory_id;mem_1;
  memory_type;event;
  timestamp;2026-01-23T10:30:00.123Z;
  content_length;22;
constraints:
  hypothesis;New information should be integrated into world model;
priority: medium;
output:
  memory_stored;mem_1;
  content_preview;key: value, other: val;
meta:
  rationale;Memory persisted for semantic search and retrieval;
  observation;Content vectorized and stored in LanceDB;
  confidence;1.0;
log: memory_retained;timestamp;2026-01-23T10:30:00.123Z;id;mem_1;type;event;
handoff: End;
"""
GRAMMAR = """\
agent: MemoryMesh_planner;
intent: store_memory_for_future_retrieval;
context:
  memory_id;mem_1;
constraints:
  - keep it short;
  - name its source;
priority: high;
output:
  memory_stored;mem_1;
meta: rationale;because;
meta: confidence;1.0;
log: memory_retained;id;mem_1;
handoff: End;
"""


@given(BLOCKS)
def test_every_block_reads_back(block):
    text = emit_yamo(block)
    assert read_yamo_block(text) == (block, ())


@pytest.mark.parametrize("operation", YAMO_OPERATIONS)
@given(st.data())
def test_every_kind_of_block_reads_back(operation, data):
    values = {name: data.draw(VALUES) for name in ARGUMENTS[operation]}
    block = build_block(operation, data.draw(NAMES), AT, **values)
    assert read_yamo_block(emit_yamo(block)) == (block, ())


@pytest.mark.parametrize("operation", YAMO_OPERATIONS)
@given(st.data())
def test_what_a_line_cannot_carry_is_changed_once(operation, data):
    """Semicolons, line ends and blanks at the edges: whatever values a block is given, its text reads back as itself."""
    values = {name: data.draw(ANY) for name in ARGUMENTS[operation]}
    text = emit_yamo(build_block(operation, data.draw(ANY), AT, **values))
    found, problems = read_yamo_block(text)
    assert found is not None and not problems
    assert emit_yamo(found) == text


LINES = st.sampled_from([*RETAIN.split("\n"), *GRAMMAR.split("\n"), "agent:", "meta: ;", "log", "  ;", "  -", "\t;;;"])


@given(ANY | st.lists(LINES | ANY, max_size=30).map("\n".join))
def test_nothing_raises(text):
    blocks, problems = read_yamo_blocks(text)
    assert all(problem.line >= 1 and problem.message for problem in problems)
    for block in blocks:
        assert read_yamo_blocks(emit_yamo(block))[0]


def test_the_form_of_the_examples():
    text = emit_yamo(
        build_block("retain", "planner", AT, id="mem_1", type="event", length="22", preview="key: value; other: val")
    )
    assert text == RETAIN


def test_the_form_of_the_grammar():
    block, problems = read_yamo_block(GRAMMAR)
    assert not problems and block
    assert block.constraints == (("", "keep it short"), ("", "name its source"))
    assert block.meta == (("rationale", "because"), ("confidence", "1.0")) and block.priority == "high"
    assert "meta:\n  rationale;because;\n" in emit_yamo(block) and "  - keep it short;\n" in emit_yamo(block)


@pytest.mark.parametrize("value", ["a;b", "a%3Bb", "a%3bb"])
def test_semicolons(value):
    """Written as commas; read where a later version of the protocol writes them encoded."""
    assert yamo_value(value) == "a,b"
    assert (
        read_yamo_block(RETAIN.replace("mem_1;\n  memory_type", "a%3Bb;\n  memory_type"))[0].value(
            "context", "memory_id"
        )
        == "a;b"
    )


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("agent: MemoryMesh_planner;\n", ""), 1, "not a line of a block"),
        (("priority: medium", "priority: urgent"), 10, "unknown priority"),
        (("handoff: End;\n", ""), 1, "Missing required section: handoff:"),
        (("other: val;", "other: val"), 13, "Line not semicolon-terminated"),
        (("key: value", "key:\nvalue"), 13, "Line not semicolon-terminated"),
        (("key: value", "key:\nvalue"), 14, "not a line of a block"),
        (("  memory_id;mem_1;", "  mem_1;"), 4, "not a pair"),
        (("intent: store", "intent: a;\nintent: store"), 3, "not a line of a block"),
        (("context:", "context: x;1;"), 3, "not a line of a block"),
        (("intent: store_memory_for_future_retrieval", "intent: "), 1, "Missing required section: intent:"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(change, line, message):
    block, problems = read_yamo_block(RETAIN.replace(*change))
    assert block is None
    assert any(problem.line == line and message in problem.message for problem in problems), problems


def test_one_bad_block_does_not_take_the_others_with_it():
    bad = RETAIN.replace("priority: medium", "priority: urgent")
    blocks, problems = read_yamo_blocks(RETAIN + bad + GRAMMAR)
    assert len(blocks) == 2 and [problem.line for problem in problems] == [19 + 10]


def test_odd_names_are_told_and_mended():
    block, problems = read_yamo_block(RETAIN.replace("MemoryMesh_planner", "Memory Mesh"))
    assert block == replace(read_yamo_block(RETAIN)[0], agent="Memory_Mesh")
    assert [problem.level for problem in problems] == ["warning"]


@pytest.mark.parametrize("text", ["", "\n\n", RETAIN + GRAMMAR])
def test_not_one_block(text):
    block, problems = read_yamo_block(text)
    assert block is None and problems
