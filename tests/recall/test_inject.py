"""Injection end to end: real files, real index, the library's own calls."""

import json
import random
import re
import subprocess
import sys

import pytest
from rawkomem.model.entries import Task
from rawkomem.model.errors import BadInput, NotFound
from rawkomem.model.values import replace
from rawkomem.recall.excerpt import MAX_SHOWN_CHARS, MAX_WHOLE_CHARS, excerpt
from rawkomem.recall.inject import Packed, add_linked, leave_out_received, pack, received_key
from rawkomem.recall.render import FORMS, Page, render
from rawkomem.recall.scoring import Reason, Scored
from rawkomem.recall.signals import MIN_RULE_BESIDE, SHORT_RULE_CHARS, Limits, question_of
from rawkomem.state.trust import Standing
from rawkomem.text.chunks import count_tokens, cut_chunks
from rawkomem.text.conditions import ALTERNATIVE, Fired

from tests.commands import cases
from tests.conftest import ROOT
from tests.recall.forgery import Chance
from tests.recall.helpers import item, memory

AUTH = """---
title: Authentication Module Structure
whenToUse: ["auth|login|security"]
tags: [auth, patterns]
importance: high
discoveredAt: 2026-01-23T10:30:00Z
discoveredBy: planner
relatedMemories: [tokens]
---

All login code lives in src/auth. Sessions are JWT cookies.
"""
TOKENS = "---\ntitle: Token lifetime\nimportance: low\n---\n\nTokens expire after fifteen minutes.\n"
CAKE = "---\ntitle: Cake for birthdays\nwhenToUse: birthday|cake\n---\n\nWe buy chocolate cake for birthdays of team members.\n"


@pytest.fixture
def filled(memories, repository):
    for name, text in {"auth": AUTH, "tokens": TOKENS, "cake": CAKE}.items():
        (memories / f"{name}.md").write_text(text)
    return repository


def titles(injection) -> list[str]:
    return [item.memory.title for item in injection.items]


def test_of_several_conditions_that_fire_the_first_one_is_named(memories, repository):
    (memories / "ports.md").write_text("---\ntitle: Ports\nwhenToUse: [gateway, broker]\n---\n\nThe API is on 80.\n")
    for task in ("open the gateway to the broker", "open the broker to the gateway"):
        (item,) = repository.inject(task).items
        assert item.signals.fired.text == "gateway"


def test_a_fired_condition_brings_its_memory_and_what_it_names(filled):
    injection = filled.inject(Task("fix the login page", agent="developer"))
    assert titles(injection) == ["Authentication Module Structure", "Token lifetime"]
    assert injection.items[0].signals.fired == Fired(ALTERNATIVE, "login")
    assert (
        "### Authentication Module Structure\n*Importance: HIGH*\n*Discovered by: planner, 2026-01-23*"
        in injection.text
    )
    assert injection.tokens > 50


def test_only_so_many_so_important_so_long(filled):
    task = Task("fix the login page")
    assert len(filled.inject(task, limit=1).items) == 1
    assert titles(filled.inject(task, min_importance="critical")) == []
    tight = filled.inject(task, budget=10)
    assert not tight.items and tight.left_out[-1].out.code == "over-budget"


def test_deleted_and_draft_memories_are_never_injected(filled, memories):
    filled.delete("auth")
    (memories / "draft.md").write_text("login login login\n")
    assert titles(filled.inject(Task("fix the login page"))) == []


def test_the_plan_and_the_agent_count_as_task(filled, memories):
    (memories / "for-testers.md").write_text(
        "---\ntitle: For testers\nwhenToUse: tester|qa\n---\n\nRun the suite twice.\n"
    )
    assert "For testers" in titles(filled.inject(Task("anything at all", agent="tester")))
    assert "Cake for birthdays" in titles(filled.inject(Task("go on", plan="then order the cake")))


def test_mistakes_name_the_valid_words(filled):
    for wrong, says in (
        ({"profile": "best"}, "fit, rawko, mesh"),
        ({"form": "html"}, "rawko, mesh, xml"),
        ({"min_importance": "urgent"}, "low, medium"),
    ):
        with pytest.raises(BadInput) as failure:
            filled.inject(Task("x"), **wrong)
        assert says in failure.value.hint
    with pytest.raises(BadInput, match="unknown agent"):
        filled.inject(Task("x", agent="butler"))
    with pytest.raises(NotFound):
        filled.explain("nope", Task("x"))


def test_twins_are_dropped_and_the_best_is_never_dropped_in_silence():
    body = "one two three four five six seven eight nine ten"
    ranked = [
        item(memory("a", body=body), 0.9),
        item(memory("b", body=body + "."), 0.8),
        item(memory("c", body="other words here"), 0.7),
    ]
    packed = pack(ranked, Limits(max_injected=5, min_beside=0), lambda scored: 10)
    assert [kept.memory.id for kept in packed.items] == ["a", "c"]
    assert [(left.memory.id, left.out) for left in packed.left_out] == [("b", Reason("twin", ("a",)))]
    packed = pack(
        ranked, Limits(max_injected=5, min_beside=0, budget=15), lambda scored: 30 if scored.memory.id == "a" else 10
    )
    assert [kept.memory.id for kept in packed.items] == ["c"] and packed.left_out[-1].out == Reason(
        "over-budget", (30, 15)
    )


def test_the_command(rawkomem, memories):
    (memories / "auth.md").write_text(AUTH)
    assert "### Authentication Module Structure" in rawkomem("inject", "fix the login page").stdout
    assert (
        rawkomem("inject", "-", input="fix the login page").stdout
        == rawkomem("inject", "fix", "the", "login", "page").stdout
    )
    assert rawkomem("inject", "compile the kernel").stdout == ""
    items = json.loads(rawkomem("inject", "fix the login page", "--format", "json", "--session", "s1").stdout)
    assert items[0]["fired"] == "alternative 'login'" and items[0]["source"] == "memories/auth.md:1"
    explained = rawkomem("inject", "fix the login page", "--explain")
    assert "when_to_use" in explained.stderr and "when_to_use" not in explained.stdout
    assert "when_to_use" in rawkomem("why", "auth", "fix the login page").stdout
    assert "no whenToUse condition fired" in rawkomem("why", "auth", "compile the kernel", check=1).stdout
    assert "All login code" in rawkomem("context", "login", "--budget", "500").stdout
    used = {row["session"]: row for row in rawkomem.json("stats", "--tokens")}
    assert used["s1"]["injections"] == 1 and used["s1"]["tokens"] > 50
    assert "one of" in rawkomem("inject", "x", "--agent", "butler", check=2).stderr


def test_json_for_programs(rawkomem, memories):
    (memories / "auth.md").write_text(AUTH)
    (memories / "cake.md").write_text(CAKE)
    told = json.loads(rawkomem("inject", "fix the login page", "--json", "--budget", "300", "-n", "1").stdout)
    (one,) = told["items"]
    assert {"id", "title", "text", "score", "relevance", "fired", "tokens", "why"} <= set(one)
    assert (
        told["tokens"] <= told["budget"] == 300 and one["text"] in told["text"] and 0 < one["tokens"] < told["tokens"]
    )
    assert [(left["id"], bool(left["code"]), bool(left["why_not"])) for left in told["left_out"]] == [
        ("cake", True, True)
    ]


def test_none_is_none_and_a_small_budget_says_so(rawkomem, memories):
    (memories / "auth.md").write_text(AUTH)
    none = rawkomem("inject", "fix the login page", "-n", "0", "--explain")
    assert none.stdout == "" and "only 0 are injected" in none.stderr
    tight = rawkomem("inject", "fix the login page", "--budget", "10")
    assert tight.stdout == "" and tight.stderr.count("\n") == 1 and "10 tokens" in tight.stderr


def test_what_leaves_for_a_prompt_is_redacted_once_more(repository, memories, monkeypatch):
    """A secret that slipped into the index, past the rules of the day it was read."""
    secret = "ghp_" + "R4nd0mT0kenV4lueF0rTh1sTestOnly12345"[:36]
    (memories / "a.md").write_text(f"---\ntitle: Release token\nwhenToUse: [release]\n---\n\nUse {secret} to push.\n")
    monkeypatch.setattr("rawkomem.index.ingest.redact_entry", lambda entry: entry)
    repository.sync()
    assert secret in repository.get("a").body
    for form in ("rawko", "mesh", "xml", "json", "plain"):
        text = repository.inject(Task("make a release"), form=form).text
        assert "to push" in text and secret not in text and "REDACTED_" in text


def test_the_second_look_finds_keys_without_loading_re2():
    code = "import sys; from rawkomem.redaction.find import leaks_again as leaks; key = 'ghp_R4nd0mT0kenV4lueF0rTh1sTestOnly12345';"
    code += "print(leaks('use ' + key), leaks('use gh\u200bp_' + key[4:]), leaks('nothing here'), 're2' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["True", "True", "False", "False"]


# What a prompt shows of a memory: the passage that matched, in whole sentences, under its headings
BADGES = (
    "[![Build](https://ci.example/badge.svg)](https://ci.example) ![Coverage](https://shields.io/c.svg)\n"
    '<p align="center"><img src="logo.png" width="300"></p>\n'
)


def test_of_a_text_that_is_only_long_code_its_first_lines_are_shown(memories, rawkomem):
    """A search showed an ellipsis and nothing else."""
    lines = "\n".join(f"booking.find({number})  // the user of it" for number in range(20))
    assert excerpt("Query", f"```ts\n{lines}\n```", most=60) == "```ts\nbooking.find(0)  // the user of it\n…\n```"
    (memories / "query.md").write_text(f"---\ntitle: Query\n---\n\n```ts\n{lines}\n```\n")
    assert "booking.find(0)" in rawkomem("search", "booking query").stdout


def test_a_short_body_is_shown_whole():
    assert excerpt("Ports", "Redis listens on 6380.\n\nKafka on 9092.") == "Redis listens on 6380.\n\nKafka on 9092."


@pytest.mark.parametrize("first", ["# Ports\n\n", "Ports\n=====\n\n", "**Ports**\n\n", "<h1>Ports</h1>\n\n"])
def test_the_title_is_not_repeated(first):
    assert excerpt("Ports", f"{first}Redis listens on 6380.") == "Redis listens on 6380."


def test_headings_become_a_path():
    body = "# Ports\n\n## Servers\n\n### Cache\n\nRedis listens on 6380.\n\n### Queue\n\nKafka on 9092.\n\n## Notes\n"
    assert excerpt("Ports", body) == ("Servers › Cache:\nRedis listens on 6380.\n\nQueue:\nKafka on 9092.\n\nNotes:")
    assert "\\#" not in render([item(memory(title="Ports", body=body))], "xml")


def test_badges_images_comments_and_rules_are_left_out():
    body = f"{BADGES}\n<!-- toc\nhidden -->\nIt runs on port 80.<br>\n\n---\n\nSee ![a plan](plan.png) `![kept](x)`."
    shown = excerpt("Web", body)
    assert "It runs on port 80." in shown and "kept" in shown
    assert not any(gone in shown for gone in ("badge", "shields", "img", "<p", "hidden", "---", "<br>"))


def long_body(*units: str) -> str:
    """A body that is too long to be shown whole, with these units between paragraphs about something else."""
    filler = "\n\n".join(f"Nothing of interest happens in paragraph {n}, it fills the page only." for n in range(40))
    return "\n\n".join(part for unit in units for part in (filler, unit)) + f"\n\n{filler}"


def test_up_to_1500_characters_a_body_arrives_whole():
    body = "\n".join(f"- Rule {n}: do not touch resource {n} by hand." for n in range(30))
    assert 1_000 < len(body) < MAX_WHOLE_CHARS and excerpt("Rules", body, ("resource", "7")) == body


def test_of_a_longer_body_whole_units_arrive():
    code = "```sh\nopen --vault\n\nunlock --vault  # every line of it\n```"
    table = "| key | value |\n|---|---|\n| vault | unlock it |\n| other | row |"
    item = "- Unlock the vault:\n  first the outer door,\n  - then the inner one."
    for unit in (code, table, item):
        shown = excerpt("Bank", long_body(unit), ("unlock", "vault"))
        assert unit in shown and "…" in shown and len(shown) <= MAX_SHOWN_CHARS


def test_a_list_item_comes_with_what_introduces_the_list():
    items = "\n".join(f"- the {word} of the vault" for word in ("door", "key", "lock"))
    rules = "\n".join(f"- resource {n} of the robot, which owns it" for n in range(80))
    shown = excerpt("Bank", f"{long_body()}\n\nNever touch:\n\n{rules}\n{items}\n\n{long_body()}", ("vault", "lock"))
    assert shown.index("Never touch:") < shown.index("- the lock of the vault")


def test_a_long_table_is_cut_between_rows_and_keeps_its_head():
    head = "| key | what it opens |\n|---|---|"
    rows = "\n".join(f"| key{n} | the door number {n} of the long corridor |" for n in range(90))
    shown = excerpt("Keys", f"{head}\n{rows.replace('key70 ', 'vaultkey ')}", ("vaultkey",))
    assert head in shown and "| vaultkey |" in shown and len(shown) <= MAX_SHOWN_CHARS


def test_code_that_is_too_long_is_left_out_whole():
    code = "\n".join(f"step_{n} --with option_{n}  # unlock the vault" for n in range(90))
    shown = excerpt("Steps", f"Run these.\n\n```sh\n{code}\n```\n\nThen rest.", ("unlock", "vault"))
    assert "step_" not in shown and "Run these." in shown and "…" in shown


def test_a_task_that_names_the_title_gets_the_beginning_and_sees_where_it_ends():
    rules = [f"- NEVER touch resource number {n} by hand, because the robot owns it" for n in range(60)]
    body, named = "\n".join(rules), ("banned", "behaviors", "repo")
    last = len(cut_chunks(body)) - 1
    assert last > 0
    shown = excerpt("Banned Behaviors", body, named, last)
    assert shown.startswith(rules[0]) and shown.endswith("\n…") and len(shown) <= MAX_SHOWN_CHARS
    # words of the text, or a passage that matches by meaning, decide otherwise
    assert rules[59] in excerpt("Banned Behaviors", body, (*named, "59"), last)
    assert rules[-1] in excerpt("Banned Behaviors", body, ("forbidden",), last)


def test_several_passages_are_joined_in_order():
    filler = "\n\n".join(f"Nothing of interest happens in paragraph {n}, it fills the page only." for n in range(60))
    body = f"The valve opens at nine bar.\n\n{filler}\n\nThe valve closes at two bar, never below.\n\n{filler}"
    shown = excerpt("Boiler", body, ("valve", "bar"), 0, 300)
    assert shown.index("opens at nine") < shown.index("…") < shown.index("closes at two")


def test_nothing_fits():
    assert excerpt("T", "This sentence is longer than twenty characters. " * 40, most=20) == ""


def documents() -> list[tuple[str, str]]:
    """Sections of this repository's own pages, with what READMEs begin with."""
    found = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        title = text.partition("\n")[0].lstrip("# ")
        parts = re.split(r"(?m)^(?=## )", text)
        for number in range(max(1, len(parts) - 2)):
            found.append((f"{title} {number}", BADGES + "\n" + "".join(parts[number : number + 3])))
        found.append((title, text))
    return found


def asked_of(body: str, chance: random.Random) -> str:
    """A sentence of prose of the body, to ask for."""
    prose = re.sub(r"(?ms)^```.*?^```$|^[|#<\[].*?$", "", body)
    sentences = [one for one in re.split(r"(?<=[.:])\s+", prose) if 40 < len(one) < 200 and "\n\n" not in one]
    return chance.choice(sentences) if sentences else ""


def test_a_hundred_questions_to_long_memories():
    chance, cut_inside, not_shown, asked = random.Random(3), 0, [], 0
    every = documents()
    assert len(every) >= 100
    for title, body in every:
        words = set(re.findall(r"\w+", body))
        for _ in range(1):
            wanted = asked_of(body, chance)
            if not wanted:
                continue
            asked += 1
            query = tuple(dict.fromkeys(re.findall(r"\w{3,}", wanted.lower())))
            shown = excerpt(title, body, query)
            plain = set(re.findall(r"\w+", shown))
            cut_inside += bool(plain - words)
            key = re.sub(r"\W+", "", wanted)
            not_shown += [] if key in re.sub(r"\W+", "", shown) else [wanted]
            assert "shields.io" not in shown and "<img" not in shown and not shown.startswith(f"{title}\n")
            assert len(shown) <= 1.2 * MAX_SHOWN_CHARS
    assert asked >= 100 and cut_inside == 0
    assert len(not_shown) <= asked / 25, (len(not_shown), asked, not_shown[:5])  # about three in a hundred, by chance


def test_the_frame_of_hooks_is_small():
    chance, shares = random.Random(1), []
    for _ in range(50):
        text = ("The gateway drains for ninety seconds before it stops. " * 6)[: chance.randint(200, 300)].rsplit(
            " ", 1
        )[0]
        of = [
            item(memory(f"mem_17691642000{n:02}_3fa9c1", title="Restart the gateway with care", body=text))
            for n in range(2)
        ]
        written = render(of, "xml")
        shares.append(1 - 2 * (len(text) + len(of[0].memory.title)) / len(written))
    assert max(shares) <= 0.25, max(shares)
    assert count_tokens(written) < 200


def test_a_condition_that_fires_shows_the_passage_about_the_task(repository, memories):
    filler = "\n\n".join(
        f"## Part {n}\n\n" + f"Chapter {n} is about gardens and their flowers. " * 12 for n in range(8)
    )
    (memories / "runbook.md").write_text(
        f"---\ntitle: Runbook\nwhenToUse: ['runbook|oncall']\n---\n\n{filler}\n\n## Pager\n\nAcknowledge the pager within five minutes.\n"
    )
    text = repository.inject(Task("oncall: how fast must I acknowledge the pager"), form="xml").text
    assert "Pager:\nAcknowledge the pager within five minutes." in text


# The text of a prompt never costs more than its budget, in any format
WORDS = [
    "deploy", "the", "gateway", "after", "3", "migrations,", "never", "before;", "schlägt", "fehl", "部署", "网关", "42",
    "`make`", "(see", "docs/a.md)", "токен", "🙂",
]  # fmt: skip


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(3, 30))).capitalize() + "."


def body(chance: Chance) -> str:
    lines = []
    for _ in range(chance.randint(0, 40)):
        kind = chance.random()
        lines.append(
            f"{'#' * chance.randint(1, 4)} {chance.choice(WORDS)}" if kind < 0.1
            else f"```\n{sentence(chance)}\n```" if kind < 0.15
            else chance.line() if kind < 0.2
            else f"- {sentence(chance)}" if kind < 0.4
            else " ".join(sentence(chance) for _ in range(chance.randint(1, 5))) + "\n"
        )  # fmt: skip
    return "\n".join(lines)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(cases(8, 1)))
def test_no_format_costs_more_than_the_budget(form, seed):
    chance = Chance(seed)
    for _ in range(cases(25, 10)):
        ranked = [
            item(
                memory(f"m{number}", title=sentence(chance), body=body(chance), path=f"memories/{number}.md", line=1),
                chance.random(),
            )
            for number in range(chance.randint(1, 7))
        ]
        budget = chance.choice([chance.randint(10, 200), chance.randint(10, 3_000)])
        page = Page(form, question_of("deploy the gateway"), chance.random() < 0.5)
        packed = pack(ranked, Limits(7, budget=budget - page.frame), page.cost, page.shorter)
        text = page.write([*map(page.shown, packed.items)])
        assert count_tokens(text) <= budget, (form, budget, text)
        assert len(packed.items) + len(packed.left_out) == len(ranked)


def test_what_is_too_long_is_shown_with_fewer_sentences(memories, repository):
    rest = " ".join(f"Sentence {n} tells of other things." for n in range(30))
    (memories / "gateway.md").write_text(
        f"---\ntitle: Gateway\nwhenToUse: gateway\n---\n\n{rest} The gateway drains for ninety seconds. {rest}\n"
    )
    full = repository.inject(Task("restart the gateway"), form="xml")
    assert 100 < full.tokens <= 2_000
    for budget in range(70, 150, 2):
        tight = repository.inject(Task("how long does the gateway drain"), form="xml", budget=budget)
        assert tight.tokens <= budget and "The gateway drains for ninety seconds." in tight.text and "…" in tight.text
    none = repository.inject(Task("restart the gateway"), form="xml", budget=30)
    assert none.text == "" and none.left_out[0].out.code == "over-budget"


def test_a_rule_in_the_middle_of_a_very_long_text_is_shown(memories, repository):
    rest = "".join(
        f"Paragraph {n} tells of other things, and of nothing that anybody asks for.\n\n" for n in range(2_000)
    )
    (memories / "long.md").write_text(
        f"---\ntitle: Notes\nwhenToUse: gateway\n---\n\n{rest}The gateway drains for ninety seconds.\n\n{rest}"
    )
    shown = repository.inject(Task("how long does the gateway drain"), form="xml")
    assert "The gateway drains for ninety seconds." in shown.text and "(the whole text: " in shown.text


def doubted(of):
    """An item that no person vouches for."""
    return replace(of, signals=replace(of.signals, unverified=Standing()))


def test_an_item_fits_if_it_takes_exactly_the_room_that_is_left():
    packed = Packed((doubted(item(memory("m"))),), (), 15)
    for budget, out in ((15, []), (14, [Reason("over-budget", (15, 14))])):
        found = add_linked(packed, {}, Limits(max_injected=5, budget=budget), lambda item: 15)
        assert [item.out for item in found.left_out] == out and len(found.items) == 1 - len(out)


@pytest.mark.parametrize(
    ("is_new_doubted", "is_old_doubted", "is_left_out"),
    [(False, False, True), (True, False, True), (True, True, True), (False, True, False)],
)
def test_a_copy_that_nobody_vouches_for_does_not_stop_a_memory_of_a_person(is_new_doubted, is_old_doubted, is_left_out):
    text = "Stop the importer before a migration, or rows are lost."
    old, new = item(memory("old", body=text)), item(memory("new", body=text))
    old, new = doubted(old) if is_old_doubted else old, doubted(new) if is_new_doubted else new
    first, second = leave_out_received([old, new], {received_key(old)})
    assert first.out == Reason("told")
    assert second.out == (Reason("twin", ("old",)) if is_left_out else None)


def rule(id: str, confidence: float, chars: int, imported: bool = True, why: str = "") -> Scored:
    """Return an item about a subject of its own, as long as asked."""
    body = "".join(f"{id}{n} " for n in range(chars))[:chars]
    extra = {"importedFrom": "instructions:CLAUDE.md#Rules"} if imported else {}
    found = item(memory(id, body=body, extra=extra))
    return replace(
        found,
        shares_title=True,
        signals=replace(found.signals, confidence=confidence, unverified=Standing(why=why) if why else None),
    )


def test_beside_another_memory_a_moved_in_rule_that_the_task_names_needs_less_confidence():
    first, limits = rule("first", 0.9, 900), Limits(max_injected=2)

    def goes_in(second: Scored) -> bool:
        return len(pack([first, second], limits, lambda scored: 10).items) == 2

    assert goes_in(rule("short", 0.45, SHORT_RULE_CHARS))
    assert not goes_in(rule("longer", 0.45, SHORT_RULE_CHARS + 1))
    assert goes_in(rule("longer", MIN_RULE_BESIDE, SHORT_RULE_CHARS + 1))
    assert not goes_in(replace(rule("other", 0.7, 100), shares_title=False)), "the task names no word of its title"
    assert not goes_in(rule("noted", 0.7, 100, imported=False))
    assert not goes_in(rule("strange", 0.7, 100, why="nobody vouches for it"))


def test_a_task_that_names_a_word_of_a_title_is_seen(repository, memories):
    for name, title in (("ports", "Test servers"), ("frames", "Window frames")):
        text = f"---\ntitle: {title}\n---\n\nA server in a test listens on port 0, so that runs do not clash.\n"
        (memories / f"{name}.md").write_text(text)
    found = repository.inject("the servers of this test clash")
    shares = {one.memory.title: one.shares_title for one in (*found.items, *found.left_out)}
    assert shares == {"Test servers": True, "Window frames": False}


CHECKS = """# Project

## Changelog entries

Write a line in CHANGELOG.md for each change that users see.

## Changelog format

Group the lines of a release below Added, Changed and Fixed.

## Docker images

Pin the digest of each base image.
"""


def test_two_short_rules_of_one_page_arrive_in_full(project, rawkomem, git):
    (project / "CLAUDE.md").write_text(CHECKS)
    rawkomem("import", "CLAUDE.md", "--yes")
    rawkomem("review", "--all-from", "instructions", "--activate", "--yes")
    git.commit("Rules")
    shown = rawkomem("inject", "add a changelog line for the release").stdout
    assert "Write a line in CHANGELOG.md" in shown and "below Added, Changed and Fixed" in shown
    assert "digest" not in shown
