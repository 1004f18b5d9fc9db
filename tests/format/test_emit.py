"""What is written reads back as the same entry."""

import yaml
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.format.frontmatter import emit_entry, emit_fields, read_frontmatter
from rawkomem.model.entries import Entry

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00\x85\u2028\u2029"), max_size=40)
VALUES = st.recursive(
    TEXT, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=8
)


def test_a_memory_as_a_person_would_write_it():
    entry = Entry(
        id="mem_1_abcdef", title="Why apsw", when=("sqlite|apsw", r"find.*\.db"), tags=("sqlite", "index"), importance="high",
        at=1769164200000, by="planner", body="Because.\n",
    )  # fmt: skip
    assert emit_entry(entry) == (
        "---\n"
        "id: mem_1_abcdef\n"
        "title: Why apsw\n"
        "whenToUse:\n"
        '  - "sqlite|apsw"\n'
        "  - 'find.*\\.db'\n"
        "tags: [sqlite, index]\n"
        "importance: high\n"
        "discoveredAt: 2026-01-23T10:30:00Z\n"
        "discoveredBy: planner\n"
        "---\n"
        "\n"
        "Because.\n"
    )


@given(st.dictionaries(TEXT.filter(bool), VALUES, max_size=6))
def test_fields_round_trip(fields):
    read, _ = read_frontmatter(emit_fields(fields))
    assert {key: field.value for key, field in read.items()} == fields


@given(st.dictionaries(st.sampled_from(["a", "title", "x-y"]), TEXT, min_size=1))
def test_other_yaml_readers_see_the_same_text(fields):
    """A plain scalar is written only where YAML's own rules would not turn it into a number, a truth or nothing."""
    loaded = yaml.safe_load(emit_fields(fields))
    dates = {key for key, value in loaded.items() if type(value).__name__ in ("date", "datetime")}
    assert {k: v for k, v in loaded.items() if k not in dates} == {k: v for k, v in fields.items() if k not in dates}
