"""Implement `rawkomem skill`."""

from __future__ import annotations

import os
from typing import Any

import click

from ....files.given_text import read_stdin, read_text_file
from ....git.user import user_name
from ....learn.skills.export import FILE
from ....learn.skills.skill import PRUNED_BELOW, Match, Skill
from ....learn.skills.text import NO_INTENT, text_in
from ....model.clock import iso
from ....model.errors import BadInput
from ....model.record import as_dict
from ....repository import Repository
from ....repository.wings import skills
from ....text.clean import clean, one_line
from ....text.count import count
from ..commands import pass_repository
from ..declare import one_of
from ..groups import Verbs
from ..opening import open_repository
from ..options import BY, DRY_RUN, EXPLAIN, JSON, LIMIT, REASON
from ..terminal import bracketed, note, paint, say, say_either, say_json, say_rows
from .reflect import synthesize_command

OUTCOME_WORDS = {"added": "added", "amended": "amended", "held": "waits for a review", "known": "already known"}


@click.group("skill", cls=Verbs, bare="list")
def skill_command() -> None:
    """Store, list, rate and export skills.

    A skill is a memory in memories/skills/ that says how to do something. Use 'rawkomem review' to decide on
    skills that wait for a review.
    """


@skill_command.command("list")
@click.argument("query", nargs=-1)
@LIMIT.but(default=skills.MAX_SKILLS)
@EXPLAIN.but(help="Show the parts of each score.")
@JSON
@pass_repository
def skills_command(repository: Repository, query: tuple[str, ...], limit: int, explain: bool, as_json: bool) -> None:
    """List skills, or find skills for a task.

    Without QUERY, the command lists all skills, most reliable first, including skills that wait for a review. With
    QUERY, it ranks reviewed skills: 70 % of the score comes from words (name 3, intent 2, tags 1, description 1),
    30 % from meaning. 'Name: X' and 'X: …' select the skill X.
    """
    question = " ".join(query).strip()
    if not question:
        nothing = "no skills yet: 'rawkomem skill add FILE' imports one"
        say_rows(as_json, repository.skills.list(limit), skill_json, _line, nothing)
        return
    found = repository.skills.search(question, limit)
    nothing = "no skill matches: 'rawkomem skill list' lists all skills"
    say_rows(as_json, found, _match_json, lambda match: _match_lines(match, explain), nothing)


@skill_command.command("add")
@click.argument("file", metavar="FILE|-")
@BY
@JSON
@click.pass_obj
def add(folder: str, /, file: str, by: str, as_json: bool) -> None:
    """Import a skill file: a SKILL.md or its folder, YAMO text, or plain Markdown.

    If the same text is stored already, nothing is added. Another text with the same name amends the skill; if the
    new text is trusted less, it waits for a review.
    """
    text, source = _read(folder, file)
    taken = open_repository(folder).skills.ingest(text, source, by or user_name())
    if as_json:
        say_json(as_dict(taken))
        return
    name = one_line(taken.name, 80) + bracketed(taken.status)
    say(f"{paint(OUTCOME_WORDS[taken.outcome], 'green')}  {name}  {taken.id}  {taken.path}")
    if taken.outcome == "held":
        note(f"{taken.why}: decide with 'rawkomem review {taken.id}'")
    if taken.status == "archived":
        note(f"'rawkomem restore {taken.id}' brings it back")
    if taken.redacted:
        note("secrets were redacted")


@skill_command.command("show")
@click.argument("id")
@JSON
@pass_repository
def show(repository: Repository, id: str, as_json: bool) -> None:
    """Show the state and the text of a skill."""
    skill = repository.skills.get(id)
    trust = repository.beliefs.trust(skill.memory).value
    if as_json:
        say_json({**skill_json(skill), "trust": round(trust, 4), "text": text_in(skill.memory.body)})
        return
    say(_line(skill))
    for name in ("intent", "tags", "description"):
        if skill.field(name):
            say(f"{name}: {one_line(skill.field(name), 1_000)}")
    say(f"trust: {trust:.2f}\n\n{clean(text_in(skill.memory.body))}")


@skill_command.command("feedback")
@click.argument("id")
@one_of(
    "outcome",
    success="The skill worked: its reliability rises by 0.1.",
    failure="The skill failed: its reliability falls by 0.2.",
)
@REASON
@BY
@JSON
@pass_repository
def feedback(repository: Repository, id: str, outcome: str | None, reason: str, by: str, as_json: bool) -> None:
    """Record whether a skill worked.

    The reliability of a skill starts at 0.5 and stays between 0 and 1.
    """
    if not outcome:
        raise BadInput("the outcome is missing", "add --success or --failure")
    skill = repository.skills.feedback(id, outcome == "success", reason, by or user_name())
    data = {"id": skill.memory.id, "reliability": skill.reliability, "use_count": skill.uses}
    say_either(as_json, data, _line(skill))


@skill_command.command("prune")
@click.option(
    "--threshold", default=PRUNED_BELOW, show_default=True, type=float, help="Archive skills below this reliability."
)
@DRY_RUN
@JSON
@pass_repository
def prune(repository: Repository, threshold: float, dry_run: bool, as_json: bool) -> None:
    """Archive unreliable skills; 'rawkomem restore' brings one back."""
    pruned = repository.skills.prune(threshold, dry_run, user_name())
    if as_json:
        ids = [skill.memory.id for skill in pruned.skills]
        say_json({"pruned_count": len(ids), "total_remaining": pruned.remaining, "ids": ids, "dry_run": dry_run})
        return
    for skill in pruned.skills:
        say(f"{'would archive' if dry_run else paint('archived', 'yellow')}  {_line(skill)}")
    note(f"{len(pruned.skills)} pruned, {pruned.remaining} remain")


@skill_command.command("export")
@click.argument("id")
@click.argument("directory", metavar="DIR")
@JSON
@click.pass_obj
def export(folder: str, /, id: str, directory: str, as_json: bool) -> None:
    """Write a skill as DIR/<name>/SKILL.md, which coding agents load.

    Claude Code loads .claude/skills; Codex, OpenCode and Gemini CLI load .agents/skills. The command never
    overwrites a file that rawkomem did not write or that was changed since.
    """
    exported = open_repository(folder).skills.export(id, os.path.join(folder, directory))
    said = f"{paint('exported', 'green') if exported.changed else 'unchanged'}  {exported.path}"
    say_either(as_json, as_dict(exported), said)


def skill_json(skill: Skill) -> dict[str, Any]:
    """Return a skill for JSON."""
    memory = skill.memory
    texts = {"intent": skill.field("intent") or NO_INTENT, "description": skill.field("description")}
    used = {"use_count": skill.uses, "injected": skill.injected, "last_used": iso(skill.last_used)}
    known = {"id": memory.id, "name": memory.title, **texts, "tags": list(memory.tags), "status": memory.status}
    return {**known, "reliability": skill.reliability, **used, "created_at": iso(memory.created), "path": memory.path}


def _match_lines(match: Match, explain: bool) -> str:
    parts = [f"      {amount:.2f} {name}: {one_line(why)}" for name, amount, why in match.parts] if explain else []
    return "\n".join([f"{match.score:.2f}  {_line(match.skill)}", *parts])


def _match_json(match: Match) -> dict[str, Any]:
    parts = [{"name": name, "amount": round(amount, 4), "why": why} for name, amount, why in match.parts]
    return {**skill_json(match.skill), "score": round(match.score, 4), "parts": parts}


def _line(skill: Skill) -> str:
    memory = skill.memory
    told = f"reliability {skill.reliability:.1f}, {count(skill.uses, 'use')}"
    return f"{one_line(memory.title, 80)}{bracketed(memory.status)}  {told}  {paint(memory.id, 'dim')}"


def _read(folder: str, file: str) -> tuple[str, str]:
    """Return the text of a skill file and the name of the file, without its folder."""
    if file == "-":
        return read_stdin(), ""
    path = os.path.join(folder, file)
    path = os.path.join(path, FILE) if os.path.isdir(path) else path
    return read_text_file(path), os.path.basename(path)


skill_command.add_command(synthesize_command, "synthesize")
