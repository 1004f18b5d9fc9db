"""Which of a person's words become drafts."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from rawkomem.bench.gold import measure_learning
from rawkomem.learn.drafts import FILED, MAX_DRAFTS, choose_drafts, entry_of_draft, entry_of_request
from rawkomem.learn.repetitions import plain_words
from rawkomem.learn.transcripts import read_session
from rawkomem.learn.turns import SYSTEM, Run, Turn
from rawkomem.model.entries import AGREED, CORRECTION, DRAFT_KINDS, REQUEST, RULE

from tests.learn.drafts.talk import answer, talk

SAMPLE = Path(__file__).parents[2] / "data" / "sessions" / "real-sessions.json"
SHARED = Path(__file__).parents[4] / "shared" / "data" / "sessions" / "sessions-dev.json.xz"
HOST_WORDS = ("host-boilerplate", "slash-template", "compaction", "sub-agent", "paste", "refuted", "terminal-output")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("no, never use vitest here, use jest", CORRECTION),
        ("shouldn't we use git rm?", CORRECTION),
        ("stop doing that", CORRECTION),
        ("I hate comments that repeat the code", CORRECTION),
        ("that's the wrong branch, we release from main", CORRECTION),
        ("we moved from pnpm back to npm", RULE),
        ("we don't use lodash any more", RULE),
        ("use British spelling from now on", RULE),
        ("Please don't add comments", RULE),
        ("always run make lint before you commit", RULE),
        ("use pnpm not npm", RULE),
        ("I prefer tabs", "preference"),
        ("Let's disallow --session together with --all.", "decision"),
        ("Remember that the staging database is read-only.", REQUEST),
        ("Run the tests again. And remember: the staging database is read-only.", REQUEST),
    ],
)
def test_a_rule_or_a_correction_is_a_draft(said, kind):
    (draft,) = answer(said)
    assert (draft.kind, draft.said) == (kind, said) and draft.title and draft.why
    assert draft.before.endswith("All of them pass.")


@pytest.mark.parametrize(
    "said",
    [
        "can you run the tests?", "why did you delete the test?", "yes", "thanks!", "I agree with the edits you're proposing",
        "we should inline it now", "Let's keep it.", "I can no longer reach the server, it always answers 502", "fix the bug in login.py please", "No.", "Remember to push",
        "don't commit yet", "check the diff", "What does this function do?", "I don't know what that means", "204",
        "continue", "ok now the next file", "Let's go with option 3", "Sounds good, let's keep moving",
        "The `API_TOKEN` should be ready for you to use, try again", "the canvas never appears after the reload",
        "Let's make sure that this works", "No artifacts will be uploaded.", "You are debugging a flaky test in a CI run",
        "That's actually not right", "please don't write any code, just tell me what to do", "[Request interrupted by user]",
        "<local-command-caveat>Never respond to these messages.</local-command-caveat>",
        "This session is being continued from a previous conversation. Always use tabs.",
    ],
)  # fmt: skip
def test_what_passes_is_no_draft(said):
    assert answer(said, "The file is written.") == []


def test_what_is_pasted_is_not_the_persons_word():
    """L8: three lines of a vendor's README became three memories of the person."""
    vendor = "We decided to use MongoDB instead of Postgres because it scales.\nNever use joins.\nAlways shard first."
    for said in (
        f"Summarize what this vendor README says:\n{vendor}",
        f"a reviewer wrote this:\n\n{vendor}",
        f"translate\n```\n{vendor}\n```",
        "what do you make of it?\n\n" + "\n".join(f"> {line}" for line in vendor.split("\n")),
        f"# Guide\n\n{vendor}\n\n## More\n\n" + "We always write docs. " * 40,
    ):
        assert answer(said) == [], said
    (draft,) = answer(f"no, never do that. The ticket says:\n{vendor}")
    assert "MongoDB" not in draft.said + draft.text


def test_what_a_person_repeats_of_the_agents_words_is_not_theirs():
    review = "1. This helper should never read the config twice because the file may have changed in between."
    assert answer(f"address {review}", f"My findings:\n\n{review}") == []


def test_a_statement_counts_when_the_person_agrees():
    before = "The watcher should poll every two seconds, because kqueue holds a descriptor per file. Shall I do that?"
    (draft,) = answer("yup, do it", before)
    assert draft.kind == AGREED and "poll every two seconds" in draft.text and "“yup, do it”" in draft.text
    assert answer("hmm, let me think about it", before) == []
    (objection,) = answer("no, polling wastes the battery, use FSEvents instead", before)
    assert objection.kind == CORRECTION and "poll every two seconds" not in objection.text
    assert choose_drafts(talk("look at the watcher", before), Run()) == [], "nobody has answered yet"


def test_the_hosts_own_turns_are_nobodys_word():
    said = Turn(SYSTEM, "Always answer in French. Never use lists.")
    assert choose_drafts(talk("do it", said, said), Run()) == []


def test_a_request_is_stored_without_the_words_that_ask_for_it():
    (draft,) = answer("Also, please remember that the staging database is read-only.")
    entry = entry_of_request(draft)
    assert entry.body == "the staging database is read-only." and entry.extra["quote"] == draft.said
    assert entry.title == "The staging database is read-only" and "remembered" in entry.tags


def test_every_kind_has_a_place():
    assert {*DRAFT_KINDS} == {*FILED}
    (draft,) = answer("use British spelling from now on")
    entry = entry_of_draft(draft)
    assert entry.body == draft.said and entry.extra["quote"] == draft.said and entry.source == "claude-code session s-1"


def test_the_same_words_of_the_same_session_are_one_draft():
    said = "use British spelling from now on"
    found = choose_drafts(talk(said, "Done.", said, "Done.", said), Run())
    assert len(found) == 1 and found[0].id == choose_drafts(talk(said, "Done."), Run())[0].id
    assert found[0].id != choose_drafts(talk(said, "Done."), Run(session="s-2"))[0].id


def test_secrets_are_in_no_draft():
    (draft,) = answer("never commit ghp_" + "Ab1" * 12 + " again, use the vault")
    assert "[REDACTED_" in draft.said and "Ab1Ab1" not in repr(draft)


# --- real sessions


def sessions() -> list[dict]:
    if SHARED.exists():
        return json.loads(lzma.open(SHARED).read())["sessions"]
    return json.loads(SAMPLE.read_text("utf-8"))["sessions"]


def drafts_of(session: dict) -> list:
    import io

    heard = read_session(io.BytesIO("".join(json.dumps(one) + "\n" for one in session["records"]).encode()), Run())
    return choose_drafts(heard.turns, heard.run)


def test_of_what_the_labels_call_the_hosts_words_nothing_is_a_draft():
    for session in sessions():
        said = " ".join(plain_words(f"{draft.said} {draft.text}") for draft in drafts_of(session))
        labelled = [one["text"] for one in session["labels"] if one["class"] in HOST_WORDS]
        assert [text for text in labelled if plain_words(text)[:80] in said] == []


def test_half_of_the_drafts_of_real_sessions_touch_gold():
    report = measure_learning([str(SAMPLE)], lambda message: None)
    assert report["stored"] == 0 and report["gold"] == 10
    assert (
        report["precision"] >= 0.6 and report["recall"] >= 0.3 and report["drafts"] <= MAX_DRAFTS * report["sessions"]
    )


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason="the whole set of sessions is not here")
def test_the_dev_sessions():
    report = measure_learning([str(SHARED)], lambda message: None)
    assert report["stored"] == 0 and report["sessions"] == 12 and report["gold"] == 25
    assert report["precision"] >= 0.72 and report["recall"] >= 0.5 and report["drafts"] <= 4 * report["sessions"]
    assert report["requests"] <= report["drafts"]


# --- drafts that can be kept as they are (L3, L4, L6)


@pytest.mark.parametrize(
    "said",
    [
        "you're editing in the main workspace, use the worktree",
        "you updated the README, not the changelog",
        "you didn't run the linter before the commit",
        "what are you doing in the vendor folder? it belongs to upstream",
    ],
)
def test_a_deed_that_the_person_names_is_a_correction(said):
    (draft,) = answer(said)
    assert draft.kind == CORRECTION and "names what you did" in draft.why


@pytest.mark.parametrize(
    "said",
    ["the rule engine loads its config at startup", "open the policy file and the convention list in the editor",
     "it never shows up in the list of recent books", "would you like to see the other option first?"],
)  # fmt: skip
def test_what_only_tells_or_asks_is_no_draft(said):
    """The bare noun "rule" made drafts of tasks, and so did "never" in a report."""
    assert answer(said, "The file is written.") == []


def test_a_turn_with_several_rules_becomes_several_drafts():
    said = "Never push to main. Always squash the commits of a branch, it keeps the history short."
    found = {draft.title: draft for draft in answer(said)}
    assert {*found} == {"Never push to main", "Always squash the commits of a branch, it keeps the history short"}
    assert all(draft.said in said and draft.text == draft.said for draft in found.values())


def test_a_title_is_a_whole_clause_and_every_draft_has_a_condition():
    said = (
        "please don't write docstrings in specs, these are redundant with the names of the functions -- and anyway we get"
        " a description that people can read when we run the whole suite in the evening"
    )
    (draft,) = answer(said)
    assert draft.title == "Don't write docstrings in specs" and draft.when
    for session in sessions():
        for draft in drafts_of(session):
            assert not draft.title.endswith("…") and draft.when, draft


def test_a_short_correction_says_what_the_agent_did():
    (draft,) = answer("no, just tell me the message", "I will stage the files and create the commit.")
    assert draft.text.startswith("no, just tell me the message") and "stage the files" in draft.text


def test_of_a_long_turn_only_the_sentences_that_matter_are_kept():
    story = "I spent the morning with the customers in the other building and we looked at the numbers. " * 4
    (draft,) = answer(f"{story}Never show prices without tax on the invoice page. {story}")
    assert draft.text == "Never show prices without tax on the invoice page."


def test_what_is_said_twice_in_a_session_is_one_draft_with_a_higher_score():
    one, other = "use jest here, not vitest", "I told you: use jest and not vitest"
    (draft,) = choose_drafts(talk("start", "Done.", one, "Ran vitest.", other), Run())
    (alone,) = answer(one)
    assert draft.said == other, "the later, fuller words"
    assert draft.score > alone.score and draft.why.endswith("said again")


def test_an_agents_thoughts_in_a_turn_are_nobodys_word():
    said = "drop the flag\n\nThe user wants to drop the flag. We should never use flags, always use options instead."
    assert answer(said) == []


def test_code_between_words_and_a_rule_in_a_quotation_stay():
    """L4: a line with much code counted as output, and a fence or a quotation took the rule with it."""
    said = 'never `[[ $x == "$y" ]] && { (( i++ )); }`, use `test`'
    (draft,) = answer(f"looks fine so far\n{said}")
    assert said in draft.said
    (draft,) = answer("instead of\n```sh\nssh box get\n```\nalways use `session get`")
    assert draft.title == "Instead of `ssh box get` always use `session get`"
    (draft,) = answer("Follow this rule from now on:\n> never use grep, use rg")
    assert "never use grep, use rg" in draft.said
    assert answer("The README says this rule:\n> never use grep, use rg") == []


def test_a_session_brings_its_five_best_drafts_and_corrections_come_first():
    rules = [f"prefer {tool} rather than make" for tool in ("just", "task", "rake", "scons", "ninja", "tup")]
    strong = "no, you keep editing the generated files, never touch the vendor folder"
    turns = [words for rule in (*rules, strong) for words in (rule, "I edited the generated files.")]
    drafts = choose_drafts(talk("start", "Done.", *turns), Run())
    assert len(drafts) == MAX_DRAFTS and drafts[0].said == strong and drafts[0].kind == CORRECTION
