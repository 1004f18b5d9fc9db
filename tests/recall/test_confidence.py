"""The gate: each memory is judged by its own evidence, which is named and explained (R8, R12, R17, R20)."""

import json
import math
import re
from pathlib import Path

import pytest
from rawkomem.files.layout import user_config
from rawkomem.model.entries import Task
from rawkomem.recall.inject import tokens_spent
from rawkomem.recall.relevance import EVIDENCE_TEXTS, WEIGHTS
from rawkomem.recall.render import POINTER_LEAD
from rawkomem.recall.scoring import POINTED_TO
from rawkomem.recall.signals import MAX_FULL, MAX_POINTERS, MIN_CONFIDENCE
from rawkomem.repository import Repository

from tests.git.gitting import AGENT
from tests.torture.helpers import memory

LEDGER = memory("Ledger rounding", "Amounts in the ledger are rounded half to even.", whenToUse="ledger|rounding")
UNRELATED = {
    f"other{number}": memory(f"About {thing}", f"Notes on {thing}: {more}.", whenToUse=f"{thing}|{more}")
    for number, (thing, more) in enumerate(
        [("greenhouses", "tomatoes"), ("kayaks", "paddles"), ("violins", "bows"), ("glaciers", "moraines"),
         ("pottery", "kilns"), ("falcons", "gloves")]
    )
}  # fmt: skip
LOG = "\n".join(f"2026-03-0{n} 10:0{n}:12 INFO step {n} of the run went through without a word" for n in range(1, 10))


def write(memories, **texts: str) -> None:
    for name, text in texts.items():
        (memories / f"{name}.md").write_text(text)


def judged(repository, task, **given) -> dict[str, tuple[dict[str, float], float]]:
    """Return evidence and confidence of each candidate."""
    injection = repository.inject(task if isinstance(task, Task) else Task(task), **given)
    return {
        item.memory.id: (dict(item.signals.evidence), item.signals.confidence)
        for item in (*injection.items, *injection.left_out)
    }


def injected(repository, task, **given) -> set[str]:
    found = repository.inject(task if isinstance(task, Task) else Task(task), **given)
    return {item.memory.id for item in found.items}


def test_every_piece_of_evidence_has_a_name_and_a_sentence(repository, memories):
    assert {*WEIGHTS} == {*EVIDENCE_TEXTS} and all(EVIDENCE_TEXTS.values())
    write(memories, ledger=LEDGER, **UNRELATED)
    tasks = ("fix the rounding in the ledger", f"why?\n{LOG}\nledger_total.py:12: failed", "yes")
    names = {name for task in tasks for values, _ in judged(repository, task).values() for name in values}
    assert names <= {*EVIDENCE_TEXTS}


def test_why_prints_the_evidence_and_its_sum_is_the_confidence(rawkomem, memories):
    write(memories, ledger=LEDGER, **UNRELATED)
    for task in ("fix the rounding in the ledger", "how are amounts rounded?", "paint the fence"):
        lines = rawkomem("why", "ledger", task, check=None).stdout.splitlines()
        added = [float(line.split("→")[1].split()[0]) for line in lines if "→" in line]
        (told,) = (float(line.split()[1]) for line in lines if line.split()[:1] == ["confidence"])
        assert len(added) >= 3 and told == pytest.approx(1 / (1 + math.exp(-sum(added))), abs=0.02)
        assert all(any(sentence in line for sentence in EVIDENCE_TEXTS.values()) for line in lines if "→" in line)


def test_memories_about_something_else_do_not_change_a_verdict(repository, memories):
    tasks = ("fix the rounding in the ledger", "how do we round amounts of money?", "plant a tree")
    write(memories, ledger=LEDGER, **dict(list(UNRELATED.items())[:3]))
    before = ["ledger" in injected(repository, task) for task in tasks]
    write(memories, **UNRELATED)
    repository.sync()
    assert ["ledger" in injected(repository, task) for task in tasks] == before


LONG = (
    "Please rewrite the whole importer so that every supplier, buyer, carrier, broker, agent, driver, planner, auditor, "
    "clerk, owner, tenant, guest, member, doctor, nurse, teacher, pupil, farmer, miner, sailor, pilot, baker, butcher, "
    "tailor, cook, waiter, porter, guard, judge, lawyer and quokka gets a number and a region."
)


def test_a_pattern_is_a_promise(repository, memories):
    """Its text goes in if it fires, whatever the text says; unfired, however near, it is a pointer at most."""
    write(memories, zebra=memory("Zebras", "Zebras have stripes.", whenToUse="quokka"), **UNRELATED)
    assert injected(repository, "paint the quokka") == {"zebra"}
    assert injected(repository, "do zebras have stripes on all of the body") == set()
    found = repository.inject("do zebras have stripes on all of the body")
    assert found.pointers[0].memory.id == "zebra" and found.pointers[0].out.code == "nothing-fired"


def test_what_fires_yields_at_least_a_pointer(repository, memories):
    write(memories, zebra=memory("Zebras", "Zebras have stripes.", whenToUse="quokka"), **UNRELATED)
    found = repository.inject(LONG)
    assert found.items == () and [item.memory.id for item in found.pointers] == ["zebra"]
    write(memories, **{f"m{n}": memory(f"Topic {n}", f"Text {n}.", whenToUse="gadget") for n in range(30)})
    found = repository.inject("paint the gadget")
    assert (len(found.items), len(found.pointers)) == (MAX_FULL, MAX_POINTERS)


def test_what_a_person_wrote_without_a_pattern_and_what_was_imported_is_judged_by_what_it_says(repository, memories):
    body = "Amounts in the ledger are rounded half to even."
    write(
        memories,
        plain=memory("Ledger rounding", body),
        said=memory(
            "Rounding amounts of the ledger", "Half to even.", whenToUse="When amounts of the ledger are rounded"
        ),
        imported=memory("Rounding", body + " Never up.", whenToUse="zzz", importedFrom="instructions:CLAUDE.md"),
        **UNRELATED,
    )
    assert injected(repository, "how are amounts in the ledger rounded?") == {"plain", "said", "imported"}
    assert injected(repository, "plant a tree beside the house") == set()


@pytest.mark.parametrize(
    ("when", "line", "ask", "brought"),
    [
        ("E4711", "error: E4711 in the run", "why?", True),
        ("E4711", "error: E4711 in the run", "", True),
        (
            "E4711",
            "error: E4711 in the run",
            "paint the fence and the gate of the old garden in green, then oil them",
            False,
        ),
        ("step", "error: the step is late", "why?", False),
    ],
)
def test_in_a_paste_only_names_fire_and_only_where_little_else_is_asked(repository, memories, when, line, ask, brought):
    write(memories, zebra=memory("Zebras", "Zebras have stripes.", whenToUse=when), **UNRELATED)
    assert injected(repository, f"{LOG}\n{line}\n\n{ask}") == ({"zebra"} if brought else set())


def user_settings() -> Path:
    """The user's own config: a repository must not say how little is enough."""
    file = Path(user_config())
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def test_min_confidence_is_the_one_knob(project, repository, memories, rawkomem):
    """It says how much a memory without a pattern must be about the task."""
    plain = memory("Ledger rounding", "Amounts in the ledger are rounded half to even.")
    write(memories, ledger=plain, **UNRELATED)
    task, sure = "sum up the amounts", "fix the rounding in the ledger"
    own, most = judged(repository, task)["ledger"][1], judged(repository, sure)["ledger"][1]
    assert 0.01 < own < MIN_CONFIDENCE <= most
    assert injected(repository, task) == set() and injected(repository, sure) == {"ledger"}
    config = user_settings()
    for asked, least, brought in ((task, own + 0.001, False), (task, own - 0.001, True), (sure, 1, False)):
        config.write_text(f"minConfidence: {least:.6f}\n")
        found = rawkomem.json("inject", asked)
        assert ("ledger" in [item["id"] for item in found["items"]]) is brought, least
    config.write_text("minConfidence: 2\n")
    assert "minConfidence must be a number from 0 to 1" in rawkomem("inject", task, check=None).stderr


def test_a_critical_memory_is_in_where_its_condition_fires(project, repository, memories, rawkomem):
    user_settings().write_text("minConfidence: 1\n")
    write(memories, zebra=memory("Zebras", "Have stripes.", whenToUse="login", importance="critical"), **UNRELATED)
    assert "Have stripes." in rawkomem("inject", "make the login button blue").stdout
    assert "Have stripes." not in rawkomem("inject", "make the logging quieter").stdout
    assert (
        "Have stripes."
        not in rawkomem("inject", f"{LOG}\n10:11:12 login ok\n\npaint the fence in green, please").stdout
    )


@pytest.mark.parametrize("prompt", ["yes, do that", "the second one"])
def test_a_thin_prompt_is_read_with_the_question_before_it(repository, memories, prompt):
    write(memories, quota=memory("Retry budget", "Three tries, then give up.", whenToUse="retry_budget"), **UNRELATED)
    before = "I looked at kayaks.\n\nShould I raise retry_budget to five?"
    assert injected(repository, prompt) == set()
    assert injected(repository, Task(prompt, lately=before)) == {"quota"}
    said = Task("paint the fence and the gate of the garden", lately=before)
    assert injected(repository, said) == set()


def test_a_numbered_answer_is_read_with_the_questions_of_these_numbers(repository, memories):
    write(
        memories,
        quota=memory("Retry budget", "Three tries, then give up.", whenToUse="retry_budget"),
        mail=memory("Mail", "Templates are in Mustache.", whenToUse="mail templates"),
        **UNRELATED,
    )
    asked = "1. Should I raise retry_budget?\n2. Who may delete an invoice?\n3. Where are the mail templates?"
    assert injected(repository, Task("1. yes\n2. only admins", lately=asked)) == {"quota"}
    assert injected(repository, Task("3. in the usual folder of the web server, please", lately=asked)) == {"mail"}


# The grades of a prompt: full text of the surest memories, pointers to the next ones, nothing twice in a session
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


def test_a_pointer_names_a_file_only_if_the_text_in_use_is_in_it(repository, memories):
    write(memories, **NOTES, **OTHERS)
    for id in NOTES:
        repository.amend(id, body=f"{repository.get(id).body} As of today, it is another one.")
    found = repository.inject(TASK)
    for item in found.pointers:
        assert f"- {item.memory.title} — rawkomem show {item.memory.id}\n" in found.text
    assert ".md\n" not in found.text.partition(POINTER_LEAD)[2]


def test_why_says_that_a_prompt_points_to_a_memory(rawkomem, repository, memories):
    write(memories, **NOTES, **OTHERS)
    pointer = repository.inject(TASK).pointers[0]
    told = rawkomem.json("why", pointer.memory.id, TASK, check=1)
    assert (told["injected"], told["pointed"], told["why_not_code"]) == (False, True, pointer.out.code)
    assert told["why_not"] == f"{POINTED_TO}{pointer.out.sentence}"
    assert not rawkomem.json("why", "o0", TASK + " of kayaks", check=None)["pointed"]


def test_a_pointer_shows_its_condition_and_json_has_both_grades(rawkomem, memories):
    write(memories, **OTHERS, **NOTES, when=memory("Invoices abroad", "Ask tax.", whenToUse="When exporting invoices"))
    found = json.loads(rawkomem("inject", TASK, "--json", "-n", "1").stdout)
    assert len(found["items"]) == 1 and 0 < found["items"][0]["confidence"] <= 1
    (one,) = [pointer for pointer in found["pointers"] if pointer["id"] == "when"] or [None]
    assert one is None or one["when"] == "When exporting invoices"
    assert all({"id", "title", "when", "path", "confidence"} == {*pointer} for pointer in found["pointers"])
    assert found["pointers"] and found["tokens"] <= found["budget"]


def test_a_pointer_starts_with_its_title_and_repeats_no_condition_that_the_title_says(repository, memories):
    titles = re.findall("title: (.*)", "".join(NOTES.values()))
    texts = {
        title.lower().replace(" ", "-"): memory(
            title, f"{title} of the billing service.", whenToUse=f"When working with {title.lower()}"
        )
        for title in titles
    }
    write(memories, **OTHERS, **texts)
    found = repository.inject(TASK)
    assert found.pointers
    for item in found.pointers:
        assert f"\n- {item.memory.title} — {item.memory.id}.md\n" in found.text


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
    for task in ("deploy the worker", "deploy the cache", "deploy it"):
        found = repository.inject(task)
        assert {"high0", "high1"} <= {*ids(found.items)}, task
        assert {"importance", "recency"} <= {factor.name for item in found.items for factor in item.order}


def test_context_prints_search_results_that_inject_keeps_to_itself(rawkomem, memories):
    """`context payments` finds what `search payments` finds (H9)."""
    rules = {f"p{number}": memory(f"Payments {word}", f"Payments {word} nightly.") for number, word in enumerate("abc")}
    write(memories, **rules, **OTHERS)
    found = rawkomem("context", "payments").stdout
    assert all(f"Payments {word}" in found for word in "abc")
    assert rawkomem("context", "quokkas").stdout.strip() == ""
    with Repository.open(str(memories.parent.parent)) as repository:
        assert repository.context("payments").text.strip() == found.strip()
        assert len(repository.context("payments", limit=2).items) == 2


def test_what_nobody_committed_is_counted(git, rawkomem, memories):
    write(memories, **OTHERS)
    git.commit()
    for word in ("worker", "cache", "gateway"):
        write(memories, **{word: memory(f"Deploy the {word}", f"The {word} goes first.", whenToUse="deploy")})
    assert "2 memories left out: uncommitted" in rawkomem("inject", "deploy it today").stderr


def test_search_by_a_profile_explains_itself(rawkomem, memories):
    write(memories, **NOTES, **OTHERS)
    for profile in ("composite", "lane", "llmos"):
        found = rawkomem.json("search", "invoice export", "-p", profile, "--explain")
        assert found and all(row["explain"] for row in found)
    assert len(found) <= 3 and all(row["relevance"] >= 0.3 for row in found)


@pytest.mark.parametrize("conditions", ["[quokka, SENTENCE]", "[SENTENCE, quokka]", "[quokka, wombat, SENTENCE]"])
def test_a_condition_that_is_a_sentence_is_compared_wherever_it_stands(repository, memories, conditions):
    sentence = "You change how customers pay for an order"
    write(memories, pay=memory("Money", "Ask Ada.", whenToUse=conditions.replace("SENTENCE", sentence)))
    assert judged(repository, sentence)["pay"][0]["meaning"] > 0.8
