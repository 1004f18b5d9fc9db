"""Drafts from what was done: fixes, and edits of files of instructions."""

import pytest
from rawkomem.learn.drafts import choose_drafts, is_instruction_file
from rawkomem.learn.turns import ASSISTANT, TOOL, Did, RunFacts, Turn
from rawkomem.model.entries import FIX, INSTRUCTION

from tests.learn.drafts.talk import ran, talk

CAUSE = "The build failed because protoc was missing from PATH; installing protobuf-compiler fixes it."


def test_a_command_that_failed_and_then_passed_is_a_fix():
    turns = [*talk("build it"), *ran("make  build", "protoc: command not found\nError 127", True, "a")]
    assert choose_drafts(turns, RunFacts()) == []
    turns += [Turn(ASSISTANT, f"I see. {CAUSE}"), *ran("make build", "ok", False, "b")]
    (draft,) = choose_drafts(turns, RunFacts())
    assert draft.kind == FIX and "protoc: command not found" in draft.text and CAUSE in draft.text


@pytest.mark.parametrize(
    "after",
    [
        [Turn(ASSISTANT, CAUSE), *ran("make other", "ok", False, "b")],  # another command
        [Turn(ASSISTANT, "Let me try again."), *ran("make build", "ok", False, "b")],  # nobody said why
        [Turn(ASSISTANT, CAUSE), *ran("make build", "error: still", True, "b")],  # it still fails
    ],
)
def test_what_is_not_solved_or_not_explained_is_none(after):
    assert choose_drafts([*talk("build it"), *ran("make build", "error: protoc", True, "a"), *after], RunFacts()) == []


def test_an_edit_of_instructions_is_a_draft():
    rule = "- Run `make lint` before every commit."
    edit = Turn(TOOL, "", tool="Edit", did=Did("e", file="/home/me/shop/CLAUDE.md", written=rule))
    code = Turn(TOOL, "", tool="Edit", did=Did("f", file="/home/me/shop/app.py", written="never = always + never_more"))
    (draft,) = choose_drafts([*talk("write that down"), edit, code, edit], RunFacts())
    assert draft.kind == INSTRUCTION and draft.text == rule and draft.title == "Run `make lint` before every commit."


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("CLAUDE.md", True), ("a/AGENTS.md", True), ("/x/GEMINI.md", True), (".cursor/rules/go.mdc", True),
        ("C:\\shop\\.github\\copilot-instructions.md", True), ("docs/claude.md.txt", False), ("src/rules/go.mdc", False),
        ("README.md", False), ("", False),
    ],
)  # fmt: skip
def test_files_of_instructions(file, expected):
    assert is_instruction_file(file) is expected
