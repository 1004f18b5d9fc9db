"""A question is made once, and facts about it travel as records and codes."""

from __future__ import annotations

import json

from rawkomem.model.entries import Task
from rawkomem.recall import signals
from rawkomem.recall.signals import question_of_task
from rawkomem.text.conditions import Fired

AT = 1_800_000_000_000


def test_a_task_is_clean_and_taken_apart():
    made = question_of_task(Task("Fix the lo\u200bgin in src/auth.py", "developer", "then deploy", "s1"), AT)
    assert made.text == "Fix the login in src/auth.py then deploy" and made.task == "Fix the login in src/auth.py"
    assert made.query_words == ("fix", "login", "src", "auth", "py", "deploy")
    assert made.title_stems == {"fix", "login", "src", "auth", "py"}
    assert made.situation.lower == "fix the login in src/auth.py developer then deploy"
    assert made.situation.paths == ("src/auth.py",)
    assert (made.agent, made.session, made.at) == ("developer", "s1", AT)


def test_a_long_task_names_no_title_and_a_book_is_cut():
    made = question_of_task(Task("login " * 5_000), AT)
    assert made.title_stems == frozenset() and len(made.text) < 2_000


def test_an_injection_makes_one_question(monkeypatch, memories, repository):
    (memories / "a.md").write_text("---\ntitle: Login\nwhenToUse: login|auth\n---\n\nAll login code is in src/auth.\n")
    cleaned = []
    monkeypatch.setattr(signals, "clean", lambda text: cleaned.append(text) or text)
    assert repository.inject(Task("fix the login page")).items
    assert cleaned == ["fix the login page"]


def test_programs_get_codes(rawkomem, memories):
    (memories / "a.md").write_text("---\ntitle: Login\nwhenToUse: login|auth\n---\n\nAll login code is in src/auth.\n")
    (memories / "b.md").write_text("---\nwhenToUse: cake\n---\n\nText.\n")
    why = json.loads(rawkomem("why", "a", "compile the kernel", "--json", check=1).stdout)
    assert why["why_not_code"] == "not-confident" and why["why_not"].startswith("not relevant enough")
    why = json.loads(rawkomem("why", "a", "fix the login", "--json").stdout)
    assert (why["why_not_code"], why["why_not"], why["fired"]) == ("", "", "alternative 'login'")
    fired = json.loads(rawkomem("try", "match", "login|auth", "fix the login", "--json").stdout)
    assert (fired["how"], fired["why"]) == ("alternative", Fired("alternative", "login").sentence)
    checked = {item["file"]: item["problems"] for item in json.loads(rawkomem("check", "--json", check=1).stdout)}
    assert "no-title" in [problem["code"] for problem in checked["memories/b.md"]]
