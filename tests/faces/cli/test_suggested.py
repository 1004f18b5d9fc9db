"""Every command that a message, a help text or a page suggests works when pasted."""

import pytest
import yaml
from rawkomem.faces.cli.commands import COMMANDS, GROUPS

from tests.commands import ROOT
from tests.faces.cli import suggested

# Notations of docs/git.md: NAME stands for the name of a check.
NOTATIONS = {"rawkomem check --staged --no-NAME", "rawkomem connect git --without NAME"}
READING = {"list", "show", "search", "inject", "why", "context", "history", "stats", "review", "drafts", "link list",
           "link walk", "link clusters", "link entities", "lesson list", "skill list",
           "trace list", "index ledger", "index store", "index sinks", "status", "check", "docs", "help",
           "try schema", "try match", "undo --list", "tidy prune", "tidy digest"}  # fmt: skip
WRITING_OPTIONS = (
    "--activate",
    "--reject",
    "--accept",
    "--decline",
    "--supersede",
    "--keep-both",
    "--apply",
    "--write",
    "--hold",
    "use",
    "copy",
    "publish",
    "migrate",
    "rollback",
    "flush",
    "export",
)
SKIPPED_OPTIONS = ("--staged", "--diff", "--personal")  # need a git work tree or the user's own repository


def test_committed_hooks_use_the_present_names():
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    lines = [hook["entry"] for hook in hooks]
    assert len(lines) == 2
    assert [line for line in lines if suggested.parse(line.split()[1:])] == []


@pytest.mark.parametrize("collect", [suggested.in_examples, suggested.in_code, suggested.in_docs])
def test_every_suggested_command_is_right_usage(collect, tmp_path, monkeypatch):
    suggested.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = [(place, line) for place, line in collect() if line not in NOTATIONS]
    assert len(found) > 150
    wrong = []
    for line, place in {line: place for place, line in found}.items():
        words = suggested.words_of(line)
        why = "" if suggested.is_reference(words) else suggested.parse(words)
        wrong += [f"{place}: {line}: {why}"] if why else []
    assert wrong == []


def test_suggested_commands_that_only_read_run(project, rawkomem):
    for title in ("id", "other", "old", "new", "why apsw"):
        rawkomem("add", "--title", title, "--body", f"What {title} says.")
    suggested.prepare(project)
    lines = {line for collect in (suggested.in_examples, suggested.in_code) for _, line in collect()}
    lines |= {line for page, line in suggested.in_docs() if page == "docs/recall.md"}
    ran = 0
    for line in sorted(lines):
        words = suggested.words_of(line)
        reads = words and (words[0] in READING or " ".join(words[:2]) in READING)
        if not reads or suggested.parse(words) or {*words} & {*WRITING_OPTIONS, *SKIPPED_OPTIONS, "--all-from"}:
            continue
        words = [word.lower() if word in ("ID", "OTHER", "OLD", "NEW") else word for word in words]
        if words[:1] == ["docs"] and words[1:] in (["id"], ["ID"]):
            continue
        done = rawkomem(*words, check=None)
        assert done.returncode in (0, 1), (line, done.stderr)
        ran += 1
    assert ran > 70


def test_every_command_has_a_group_and_examples():
    grouped = [name for shown, more in GROUPS.values() for name in shown + more]
    assert sorted(grouped) == sorted(COMMANDS)
    with_examples = {path for path, _ in suggested.in_examples()}
    for path, command in suggested.leaves():
        told = command.get_help(suggested.click.Context(command, info_name=path))
        assert ("Examples:" in told and path in with_examples) or path.startswith(("connect ", "bench ")), path
