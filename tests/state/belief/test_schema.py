"""The JSON Schema of the frontmatter says what the reader says: of real entries, of kinds, and of mistakes."""

import json

import pytest
import yaml
from jsonschema import Draft202012Validator
from rawkomem.format.entries import ENTRY_FIELD_KEYS as READ
from rawkomem.format.entries import read_entries
from rawkomem.model.values import CHANGES, CREATES, ERROR, IMPORTANCE
from rawkomem.state.schema import frontmatter_keys, frontmatter_schema

VALIDATOR = Draft202012Validator(frontmatter_schema())


def frontmatter(yaml_text: str) -> dict:
    """As another YAML reader has it, in JSON's types."""
    return json.loads(json.dumps(yaml.safe_load(yaml_text), default=str))


def test_it_is_a_schema_and_knows_every_key_that_the_reader_knows():
    Draft202012Validator.check_schema(frontmatter_schema())
    keys = frontmatter_keys()
    assert set(keys) >= READ and keys["supersededBy"].refers and not keys["reason"].refers
    assert keys["kind"].values["enum"] == [*CREATES, *CHANGES]


@pytest.mark.parametrize("given", [
    "title: x",
    "title: 5\nkind: lesson\nimportance: HIGH\ntags: one",
    "title: x\nwhenToUse: a|b",
    "title: x\nwhenToUse: [{pattern: a}, b]\ndiscoveredAt: 2026-01-23T10:30:00Z\nmine: {deep: [1]}",
    "kind: amend\nabout: x\nimportance: low",
    "kind: feedback\nabout: x\nsignal: helpful",
    "kind: link\nabout: x\nto: [a, b]\nremoved: true",
    "trace_id: trace-1\ngoal: g\nstatus: success",
    "title: x\nclaim: {subject: a, predicate: b, value: 5}\nprovenance: {source: user_explicit}",
    "title: x\ntags:\nrelatedMemories:",
])  # fmt: skip
def test_what_the_reader_takes_is_valid(given):
    _, problems = read_entries(f"---\n{given}\n---\n\ntext\n")
    assert not [problem for problem in problems if problem.level == ERROR]
    assert not [*VALIDATOR.iter_errors(frontmatter(given))]


@pytest.mark.parametrize("given", [
    "tags: [a]",
    "kind: amend",
    "kind: feedback\nsignal: helpful",
    "title: [a, b]",
    "title: x\ntags: [[a]]",
    "title: x\ntags: {a: b}",
    "title: x\nwhenToUse: {a: b}",
    "title: x\nrelatedMemories: [[a]]",
    "title: x\nby: [a]",
    f"title: x\nid: {'x' * 251}",
    f"title: x\nwhenToUse: {json.dumps([f'c{n}' for n in range(33)])}",
    f"title: x\ntags: {json.dumps([f't{n}' for n in range(65)])}",
])  # fmt: skip
def test_what_the_reader_refuses_is_not(given):
    _, problems = read_entries(f"---\n{given}\n---\n\ntext\n")
    assert [problem for problem in problems if problem.level == ERROR]
    assert [*VALIDATOR.iter_errors(frontmatter(given))]


def test_the_command_prints_it(rawkomem):
    assert json.loads(rawkomem("try", "schema").stdout) == json.loads(json.dumps(frontmatter_schema()))
    assert IMPORTANCE[0] in rawkomem("try", "schema").stdout
