"""The grades of a prompt: full text of the surest memories, pointers to the next ones, nothing twice in a session."""

import json
import re

from rawkomem.model.entries import Task
from rawkomem.recall.inject import tokens_spent
from rawkomem.recall.render import POINTER_LEAD
from rawkomem.recall.signals import MAX_FULL, MAX_POINTERS

from tests.git.gitting import AGENT
from tests.torture.helpers import memory

TASK = "change the invoice export of the billing service"
NOTES = {
    f"n{number}": memory(f"Invoice export {word}", f"The invoice export writes {word} of the billing service.")
    for number, word in enumerate(
        ["headers", "totals", "currencies", "addresses", "discounts", "footers", "numbers", "taxes"]
    )
}
OTHERS = {
    f"o{number}": memory(f"About {thing}", f"Notes on {thing}.", whenToUse=thing)
    for number, thing in enumerate(["kayaks", "violins", "glaciers", "pottery", "falcons", "tomatoes"])
}


def write(memories, **texts: str) -> None:
    for name, text in texts.items():
        (memories / f"{name}.md").write_text(text)


def ids(items) -> list[str]:
    return [item.memory.id for item in items]


def test_two_in_full_and_three_pointers(repository, memories):
    write(memories, **NOTES, **OTHERS)
    for form in ("rawko", "xml", "plain"):
        found = repository.inject(TASK, form=form)
        assert len(found.items) == MAX_FULL and 1 <= len(found.pointers) <= MAX_POINTERS
        assert not {*ids(found.items)} & {*ids(found.pointers)}
        assert POINTER_LEAD in found.text
        for item in found.pointers:
            assert f"- {item.memory.title} — {item.memory.id}.md" in found.text
            assert item.memory.body.strip() not in found.text
        assert {*ids(found.pointers)} <= {*ids(found.left_out)}  # a pointer has a reason why its text is left out


def test_a_pointer_shows_its_condition_and_json_has_both_grades(rawkomem, memories):
    write(memories, **OTHERS, **NOTES, when=memory("Invoices abroad", "Ask tax.", whenToUse="When exporting invoices"))
    found = json.loads(rawkomem("inject", TASK, "--json", "-n", "1").stdout)
    assert len(found["items"]) == 1 and 0 < found["items"][0]["confidence"] <= 1
    (one,) = [pointer for pointer in found["pointers"] if pointer["id"] == "when"] or [None]
    assert one is None or one["when"] == "When exporting invoices"
    assert all({"id", "title", "when", "path", "confidence"} == {*pointer} for pointer in found["pointers"])
    assert found["pointers"] and found["tokens"] <= found["budget"]


def test_a_pointer_repeats_neither_its_title_nor_its_condition(repository, memories):
    titles = re.findall("title: (.*)", "".join(NOTES.values()))
    texts = {
        title.lower().replace(" ", "-"): memory(
            title, f"{title} of the billing service.", whenToUse=f"When working on {title.lower()}"
        )
        for title in titles
    }
    write(memories, **OTHERS, **texts)
    found = repository.inject(TASK)
    assert found.pointers
    for item in found.pointers:
        assert f"\n- {item.memory.id}.md\n" in found.text


def test_short_replies_texts_of_the_host_and_profiles_of_the_designs_have_no_pointers(repository, memories):
    write(memories, **NOTES, **OTHERS)
    for prompt in ("thanks", "yes, do that", "ok, export", "[Request interrupted by user]"):
        assert repository.inject(prompt).pointers == (), prompt
    for profile in ("rawko", "composite", "llmos"):
        assert repository.inject(TASK, profile=profile).pointers == (), profile


def test_nothing_is_handed_over_twice_in_a_session(repository, memories):
    write(memories, **NOTES, **OTHERS)
    seen: set[str] = set()
    for _ in range(4):
        found = repository.inject(Task(TASK, session="s"))
        shown = {*ids(found.items)}
        assert not shown & seen and not {*ids(found.pointers)} & seen
        repository.note_use(found, "s")
        assert tokens_spent(found) <= found.tokens
        seen |= shown
    pointed = repository.inject(Task(TASK, session="t"))
    repository.note_use(pointed, "t")
    again = repository.inject(Task(TASK, session="t"))
    assert not {*ids(pointed.pointers)} & {*ids(again.pointers)}


def test_a_memory_that_nobody_vouches_for_gets_no_pointer(git, repository, memories):
    write(memories, **OTHERS, n0=NOTES["n0"], n1=NOTES["n1"])
    git.commit()
    write(memories, **NOTES)
    git.commit("agent", AGENT)
    repository.sync()
    found = repository.inject(TASK)
    assert {*ids(found.pointers)} <= {"n0", "n1"}


def test_high_and_recent_memories_go_in_before_low_and_old_ones(repository, memories):
    """Six low ones of two years ago and two high ones of this week, with the same condition (H3)."""
    low = {
        f"low{number}": memory(
            f"Deploy {word}", f"Deploy the {word} with care.", whenToUse="deploy", importance="low",
            discoveredAt="2024-01-02T00:00:00Z",
        )
        for number, word in enumerate(["cache", "worker", "gateway", "search", "mailer", "proxy"])
    }  # fmt: skip
    high = {
        f"high{number}": memory(f"Deploy {word}", f"Deploy only from {word}.", whenToUse="deploy", importance="high")
        for number, word in enumerate(["main", "Monday to Thursday"])
    }
    write(memories, **low, **high)
    for task in ("deploy the worker", "deploy the cache", "how do we deploy the search service?", "deploy it"):
        found = repository.inject(task)
        assert {*ids(found.items)} == {"high0", "high1"}, task
        assert {"importance", "recency"} <= {factor.name for item in found.items for factor in item.order}


def test_context_prints_search_results_that_inject_keeps_to_itself(rawkomem, memories):
    """`context payments` finds what `search payments` finds (H9)."""
    rules = {f"p{number}": memory(f"Payments {word}", f"Payments {word} nightly.") for number, word in enumerate("abc")}
    write(memories, **rules, **OTHERS)
    found = rawkomem("context", "payments").stdout
    assert all(f"Payments {word}" in found for word in "abc")
    assert rawkomem("context", "quokkas").stdout.strip() == ""


def test_what_nobody_committed_is_counted(git, rawkomem, memories):
    write(memories, **OTHERS)
    git.commit()
    for word in ("worker", "cache", "gateway"):
        write(memories, **{word: memory(f"Deploy the {word}", f"The {word} goes first.", whenToUse="deploy")})
    assert "2 memories left out: uncommitted" in rawkomem("inject", "deploy it today").stderr


def test_search_by_a_profile_explains_itself(rawkomem, memories):
    write(memories, **NOTES, **OTHERS)
    for profile in ("composite", "lane", "llmos"):
        found = json.loads(rawkomem("search", "invoice export", "-p", profile, "--explain", "--json").stdout)
        assert found and all(row["explain"] for row in found)
    assert len(found) <= 3 and all(row["relevance"] >= 0.3 for row in found)
