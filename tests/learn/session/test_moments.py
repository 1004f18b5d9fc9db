"""The offline extractor: measured on talk that its rules were not made for, and on the cases of the source design."""

from __future__ import annotations

from collections import Counter

import pytest

from rawkomem.learn.session import cues
from rawkomem.learn.session.moments import kinds_of, moments_in
from rawkomem.learn.session.remember import Run, body_of, entry_of, title_of
from rawkomem.learn.session.turns import Turn
from rawkomem.text.prose import sentences
from tests.cpu import cpu_seconds
from tests.learn.session.talk import FILES, measure, snippets
from tests.seeds import by_case


def found(text: str, role: str = "user") -> list[tuple[str, str]]:
    return [(moment.kind, moment.text) for moment in moments_in(Turn(role, text), Counter())]


def test_precision_and_recall_on_talk_that_was_held_out():
    """Rules were made for the other half: see docs/learning.md for what these figures are worth."""
    held_out = [snippet for file in FILES for snippet in snippets(file, held_out=True)]
    precision, recall, same_kind, mistakes = measure(held_out)
    assert len(held_out) > 150
    assert precision >= 0.95 and recall >= 0.8 and same_kind >= 0.9, "\n".join(mistakes)


def test_the_halves_hold_every_kind():
    for held_out in (True, False):
        kinds = {label for file in FILES for _, label in snippets(file, held_out)}
        assert kinds == {*cues.KINDS, ""} - {"request"}  # that one has tests of its own


@by_case("neolata-mem", "detectKeyMoments")
def test_key_moments(case):
    """What neolata finds has a cue here, too; whether it is worth keeping is another question."""
    ranks = {"decision": 0.9, "commitment": 0.8, "preference": 0.7}
    text = case["input"]["text"]
    cued = [(kind, sentence) for sentence in sentences(text) for kind in kinds_of(sentence, "")]
    assert cued == [(moment["type"], moment["text"]) for moment in case["expected"]]
    assert [ranks[kind] for kind, _ in cued] == [moment["importance"] for moment in case["expected"]]


def test_every_type_is_one_of_memory_lanes():
    lane = {"correction", "decision", "commitment", "insight", "learning", "confidence", "pattern_seed", "cross_agent"}
    assert {kind.type for kind in cues.KINDS.values()} <= lane | {"workflow_note", "gap"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How do we load an extension? And remember: always run the linter before you push.", "request"),
        ("Remember that the staging database is wiped on Sundays.", "request"),
        ("Please keep in mind that Maria owns the billing module.", "request"),
        ("For the record: we decided to use Postgres instead of MySQL.", "decision"),
        ("Don't forget that today's build numbers come from Jenkins.", "request"),
        ("Remember to never squash merges of release branches.", "request"),
        ("Do you remember that the linter failed on Sunday?", None),
        ("Remember to push the branch.", None),
        ("I don't remember that the linter failed on the release branch.", None),
    ],
)
def test_who_asks_for_it_has_it_remembered(text, kind):
    assert [kind for kind, _ in found(text)] == ([kind] if kind else [])
    assert not found(text, "assistant") or kind != "request"


def test_the_request_itself_is_no_part_of_the_title():
    assert title_of("And remember: always run the linter before you push.") == "Always run the linter before you push"
    assert title_of("Keep in mind that Maria owns the billing module.") == "Maria owns the billing module"


def test_who_says_it_counts():
    text = "I prefer tabs over spaces in Makefiles."
    assert found(text, "user") and not found(text, "assistant") and not found(text, "tool")


def test_a_mere_no_makes_what_follows_a_correction():
    assert found("Not like that. Error messages go to stderr, never to stdout.") == [
        ("correction", "Error messages go to stderr, never to stdout.")
    ]
    assert found("Error messages go to stderr, never to stdout.") == []


def test_a_fault_that_is_being_mended_is_passing():
    text = "The build fails because the import of yaml is missing."
    assert found(text, "assistant") and not found(f"{text} I'll add it now.", "assistant")


@pytest.mark.parametrize(
    "text",
    [
        "> We decided to use Postgres instead of MySQL.",
        "```\nWe decided to use Postgres instead of MySQL.\n```",
        "| We decided to use Postgres | because of indexes |",
        "# We decided to use Postgres instead of MySQL",
        "Did we decide to use Postgres instead of MySQL?",
        "If we decided to use Postgres, MySQL would go.",
    ],
)
def test_quotes_code_tables_headings_questions_and_suppositions_are_not_said(text):
    assert found(text) == []


def test_items_of_a_list_keep_what_leads_to_them():
    assert found("We decided to use these libraries:\n- zod for validation\n- pino for logs") == [
        ("decision", "We decided to use these libraries: zod for validation"),
        ("decision", "We decided to use these libraries: pino for logs"),
    ]


def test_typographic_apostrophes():
    assert found("Don’t mock the database in integration tests, use the container.")


def test_what_is_passed_over_is_counted():
    skipped: Counter[str] = Counter()
    text = "Let me look at the billing module. Should we use Redis for the session cache? Maybe the cache is stale somewhere. Thanks."
    assert not list(moments_in(Turn("assistant", text), skipped))
    assert skipped == {"narration": 1, "question": 1, "hypothetical": 1, "trivial": 1}


@pytest.mark.parametrize(
    "text",
    [
        "because " * 50_000,
        "we always " * 30_000,
        "a/" * 100_000,
        "error " * 50_000,
        "(" * 100_000,
        "no, " * 50_000 + ".",
    ],
)
def test_hostile_text_takes_no_time(text):
    pieces = ". ".join(text[at : at + 390] for at in range(0, 100_000, 390))
    assert cpu_seconds(lambda: (found(text, ""), found(pieces, ""))) < 10


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("We decided to use Postgres instead of MySQL because we need partial indexes.", "Use Postgres instead of MySQL"),
        ("No, use pnpm, not npm.", "Use pnpm, not npm"),
        ("Decision: all timestamps are stored as UTC milliseconds.", "All timestamps are stored as UTC milliseconds"),
        ("Wrong file, the routes are registered in server/router.ts, not in app.ts.", "Wrong file, the routes are registered in server/router.ts, not in app.ts"),
        ("x" * 200, "X" + "x" * 88 + "…"),
    ],
)  # fmt: skip
def test_titles(text, title):
    assert title_of(text) == title


def test_an_entry_tells_where_it_comes_from():
    turn = Turn(
        "assistant", "The build failed because the cache was stale; clearing .cache fixed it.", at=1_700_000_000_000
    )
    (moment,) = moments_in(turn, Counter())
    entry = entry_of(moment, Run("codex", "fix the build", "failure", "exit 1", "codex session 7"))
    assert (entry.by, entry.found_in, entry.source, entry.at) == ("codex", "fix the build", "codex session 7", turn.at)
    assert entry.extra["type"] == "insight" and entry.extra["saidBy"] == "assistant" and entry.importance == "high"
    assert body_of(moment, Run(error="exit 1")).endswith("The run ended in failure: exit 1")
