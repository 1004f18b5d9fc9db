"""Secrets under telling keys of the frontmatter, which their values alone do not give away."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from rawkomem.format.entries import read_entries
from rawkomem.format.frontmatter import emit_entry
from rawkomem.model.entries import Entry
from rawkomem.model.ids import new_id
from rawkomem.redaction.entries import redact_entry

from tests.commands import cases

WEAK = "blue-horse-42"  # a secret only because of its key
HELD = {
    "db_password": WEAK,
    "service": {"api_key": "q7Rk2Lw9Zx4Vb8Nm", "host": "db.internal", "deep": {"passwd": WEAK}},
    "passwords": [WEAK, "red-zebra-77"],
    "env": [{"name": "DB_PASS", "value": WEAK}],
    "claim": {"subject": "prod database", "predicate": "password", "value": WEAK},
    "notes": "first line\npassword: red-zebra-77\nlast line",
    "login": {"pwd": "swordfish"},
    "Kennwort": WEAK,
    "block_secret": "q7Rk2Lw9\nZx4Vb8Nm3T",
}
SECRETS = (WEAK, "q7Rk2Lw9Zx4Vb8Nm", "red-zebra-77", "swordfish", "Zx4Vb8Nm3T")


def file_of(entry: Entry) -> str:
    return emit_entry(entry)


@pytest.mark.parametrize("key", HELD)
def test_a_telling_key_gives_its_value_away(key):
    clean = redact_entry(Entry(id="mem_1", title="Access", body="Fine.", extra={key: HELD[key]}))
    text = emit_entry(clean)
    assert [secret for secret in SECRETS if secret in text] == []
    assert "[REDACTED_" in text and redact_entry(clean) == clean
    assert list(clean.extra) == [key]
    assert list(yaml.safe_load(text.split("---")[1])[key]) == list(HELD[key]) or not isinstance(HELD[key], dict)


def test_what_surrounds_a_secret_stays():
    clean = redact_entry(Entry(id="mem_1", title="Access", extra=HELD)).extra
    assert clean["service"]["host"] == "db.internal"
    assert clean["notes"] == "first line\npassword: [REDACTED_SECRET]\nlast line"
    assert clean["claim"]["predicate"] == "password" and clean["env"][0]["name"] == "DB_PASS"


@pytest.mark.parametrize(
    "extra",
    [
        {"password_policy": "twelve letters, rotated each May", "token_limit": "4096", "password_manager": "1password"},
        {"password": "ask the ops team", "secret_name": "prod-db-creds-7", "token_type": "bearer"},
        {"claim": {"subject": "ci", "predicate": "runner", "value": "blue-horse-42"}},
        {"password": {"last_changed": "2026-01-02", "min_length": "12"}, "keyboard": "qwerty-uk-105"},
        {"supersedes": ["mem_01hzy3k9q2v7r4"], "supersededBy": "mem_q7rk2lw9zx4v", "commit": "9fceb02d0ae598e95dc970b74767f19372d61af8"},
    ],
)  # fmt: skip
def test_keys_that_only_speak_of_secrets(extra):
    entry = Entry(id="mem_1", title="Access", extra=extra)
    assert redact_entry(entry).extra == extra


def test_a_key_that_is_a_secret_goes_and_the_mapping_stays():
    key = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tV9wX1yZ3bC5"
    clean = redact_entry(Entry(id="mem_1", title="x", extra={"seen": {key: "a", key[:-1] + "9": "b", "other": "c"}}))
    assert list(clean.extra["seen"].values()) == ["a", "b", "c"] and key not in repr(clean)


KEYS = st.sampled_from(
    ["db_password", "api_key", "note", "claim", "value", "name", "secret", "title2", "passwords", "a"]
)
TEXTS = st.sampled_from(
    [WEAK, "x", "DB_PASS", "password: red-zebra-77", "user: ada", "swordfish", "a\nb", "", "ada@engine.example"]
)
VALUES = st.recursive(
    TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)


@settings(max_examples=cases(200, 20), deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=4), TEXTS)
def test_what_check_finds_is_redacted_and_nothing_is_left(extra, body):
    """`check` says that the index holds a redacted copy: a redacted entry, written and read again, leaks nothing."""
    clean = redact_entry(Entry(id="mem_1", title="Access", extra=extra, body=body))
    (again,), problems = read_entries(emit_entry(clean))
    assert not again.leaks and [problem for problem in problems if problem.code in ("secret", "personal-data")] == []
    assert list(again.extra) == list(extra)


FRONT = f"""---
title: Access
whenToUse: [rotate the database password]
db_password: {WEAK}
service:
  api_key: q7Rk2Lw9Zx4Vb8Nm
passwords: [red-zebra-77]
claim: {{subject: prod database, predicate: password, value: {WEAK}}}
source: "password=red-zebra-77"
---

Rotate the database password in May.
"""


def test_no_secret_under_a_key_leaves_a_file_that_people_wrote(project, memories, rawkomem):
    (memories / "access.md").write_text(FRONT, encoding="utf-8")
    said = [
        rawkomem(*words).stdout
        for words in (
            ("search", "database password", "--json"), ("show", "access"), ("show", "access", "--json"), ("list", "--json"),
            ("inject", "rotate the database password", "--format", "json"), ("inject", "rotate the database password"),
            ("history", "access", "--json"), ("explain", "access"), ("check", "--json"), ("link", "graph"), ("conflicts",), ("export",),
            ("context", "database password"),
        )
    ]  # fmt: skip
    assert [secret for secret in SECRETS if any(secret in text for text in said)] == []
    held = b"".join(path.read_bytes() for path in (project / ".rawko" / "local").rglob("*") if path.is_file())
    assert [secret for secret in SECRETS if secret.encode() in held] == []
    problems = json.loads(rawkomem("check", "--json").stdout)[0]["problems"]
    assert {problem["line"] for problem in problems if problem["code"] == "secret"} == {4, 6, 7, 8, 9}


def test_no_secret_under_a_key_gets_in(project, repository, rawkomem):
    repository.add(Entry(title="Access", body="Fine.", extra=HELD, source=f"password={WEAK}", tags=(f"pw={WEAK}",)))
    rawkomem("add", "--title", "Claimed", "--claim", f"subject=prod,predicate=password,value={WEAK}", input="Prod.")
    rawkomem("add", "--title", "Again", "--claim", "subject=prod,predicate=password,value=red-zebra-77", input="Stage.")
    repository.sync()
    root = Path(repository.layout.root)
    repository.close()
    data = b"".join(path.name.encode() + path.read_bytes() for path in root.rglob("*") if path.is_file())
    assert [secret for secret in SECRETS if secret.encode() in data] == []


def test_ids_and_dates_are_never_touched():
    names = [new_id("mem") for _ in range(200)]
    extra = {
        "supersededBy": names[0],
        "supersedes": names[1:99],
        "conflictsWith": names[99:],
        "validFrom": "2026-01-01",
    }
    entry = Entry(id=names[3], kind="supersede", about=names[4], at=1_700_000_000_000, extra=extra, related=names[:9])
    assert redact_entry(entry) == entry
