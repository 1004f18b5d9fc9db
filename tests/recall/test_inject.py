"""Injection end to end: real files, real index, the library's own calls."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from rawkomem.model.entries import Task
from rawkomem.model.errors import BadInput, NotFound
from rawkomem.recall.inject import pack
from rawkomem.recall.scoring import Reason
from rawkomem.recall.signals import Limits
from rawkomem.text.conditions import ALTERNATIVE, Fired

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


def test_explain(filled):
    item, inside = filled.explain("auth", Task("fix the login page"))
    assert inside and {factor.name for factor in item.factors} == {"fit", "when_to_use"}
    item, inside = filled.explain("cake", Task("fix the login page"))
    assert not inside and item.out.code == "not-confident"


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
    packed = pack(ranked, Limits(max_injected=5), lambda scored: 10)
    assert [kept.memory.id for kept in packed.items] == ["a", "c"]
    assert [(left.memory.id, left.out) for left in packed.left_out] == [("b", Reason("twin", ("a",)))]
    packed = pack(ranked, Limits(max_injected=5, budget=15), lambda scored: 30 if scored.memory.id == "a" else 10)
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
    assert "confidence 0.0" in rawkomem("why", "auth", "compile the kernel", check=1).stdout
    assert "All login code" in rawkomem("context", "login", "--budget", "500").stdout
    used = {row["session"]: row for row in json.loads(rawkomem("stats", "--tokens", "--json").stdout)}
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
