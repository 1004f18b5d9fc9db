"""Implement `rawkomem lesson` and `rawkomem heritage`."""

from __future__ import annotations

from typing import Any

import click

from ....files.given_text import read_stream
from ....format.lesson import DEFAULT_CONFIDENCE, SEVERITIES, TOLD, LessonContext, pattern_id
from ....git.user import user_name
from ....learn.lessons.from_failures import Proposal
from ....learn.lessons.lesson import HELD, KNOWN, Lesson
from ....model.clock import iso
from ....repository import Repository
from ....repository.wings import lessons
from ....state.changes.heritage import HeritageChain, heritage_of
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_repository
from ..groups import Verbs
from ..memories.read import IMPORTANCE_COLORS
from ..options import BY, DRY_RUN, JSON, LIMIT
from ..terminal import bracketed, day, note, paint, say, say_json, say_rows, wide

NOTHING_FAILED = "no drafts: no recent failure has a rule, a learning or a fix, and none happened twice in 7 days"


@click.group("lesson", cls=Verbs, bare="list")
def lesson_command() -> None:
    """Store and list lessons from failures.

    A lesson says what went wrong, why, and the rule that prevents it. See 'rawkomem docs lessons'.
    """


@lesson_command.command("add")
@click.option("--situation", required=True, help="What happened.")
@click.option("--error-pattern", required=True, help="A stable name for this kind of error, like auth_fallback.")
@click.option("--oversight", required=True, help="What was overlooked.")
@click.option("--fix", required=True, help="How it was resolved.")
@click.option("--rule", "preventative_rule", required=True, help="The rule that prevents the error.")
@click.option(
    "--severity", required=True, type=click.Choice(SEVERITIES[::-1], case_sensitive=False), help="The severity."
)
@click.option("--scope", "applicable_scope", required=True, help="When and where the rule applies.")
@click.option("--inverse", "inverse_lesson", default="", help="What to do instead.")
@click.option(
    "--confidence",
    default=DEFAULT_CONFIDENCE,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="The confidence in the rule, 0 to 1.",
)
@BY
@JSON
@pass_repository
def add_command(repository: Repository, by: str, as_json: bool, **fields: Any) -> None:
    """Store a lesson.

    Two lessons with the same error pattern and scope are the same lesson. If a stored lesson is at least as
    confident, nothing is written and the command shows it; otherwise the new lesson replaces it.
    """
    context = LessonContext(**{**fields, "severity": fields["severity"].lower()})
    lesson, what = repository.lessons.learn(context, by or user_name())
    repository.core.follow()
    _tell(lesson, what, as_json)


@lesson_command.command("import")
@click.argument("file", type=click.File("rb"))
@JSON
@pass_repository
def import_command(repository: Repository, file: Any, as_json: bool) -> None:
    """Import a lesson from a YAMO block.

    If FILE is '-', it is read from standard input. Both block formats of RFC-0011 are supported. See 'rawkomem docs
    yamo'.
    """
    lesson, what = repository.lessons.take_over(read_stream(file, file.name))
    repository.core.follow()
    _tell(lesson, what, as_json)


@lesson_command.command("list")
@click.argument("query", nargs=-1)
@LIMIT.but(default=lessons.MAX_LESSONS)
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    help="The minimum confidence. Default: the setting lessons.minConfidence, 0.7.",
)
@click.option("--pattern", default="", help="List all lessons of this pattern (its id or name), with any status.")
@click.option("--wire", is_flag=True, help="Print YAMO blocks, for 'rawkomem lesson import'.")
@JSON
@pass_repository
def lessons_command(
    repository: Repository, query: tuple[str, ...], limit: int, min_confidence: float | None, pattern: str, wire: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """List lessons, most severe first.

    With QUERY, the command lists the lessons that match it best. Lessons that are too old or not confident enough
    to be injected are left out.
    """
    if pattern:
        found = repository.lessons.by_pattern(pattern)[:limit]
    else:
        found = repository.lessons.search(" ".join(query), limit, min_confidence)
    if wire and not as_json:
        say("\n".join(lesson.wire for lesson in found).removesuffix("\n"))
    else:
        say_rows(as_json, found, as_json_of, _line)
    if not found:
        note("no lessons: 'rawkomem lesson add --help' shows how to store one")


@lesson_command.command("distill")
@DRY_RUN
@JSON
@pass_repository
def distill_command(repository: Repository, dry_run: bool, as_json: bool) -> None:
    """Propose drafts of lessons from recent failures.

    The command looks at failures of the last 24 hours, and at failures that happened twice within 7 days. A draft
    quotes the rule, learning or fix that somebody wrote down; the command does not invent rules. Drafts stay on
    this machine until 'rawkomem drafts keep ID' stores them. It then prints the lessons for the next session. A
    second run adds nothing.
    """
    done = repository.lessons.distill(dry_run, user_name())
    repository.core.follow()
    if as_json:
        found = [_found_json(proposal, what) for proposal, what in done.found]
        top = [as_json_of(lesson) for lesson in done.top]
        say_json({"dry_run": dry_run, "found": found, "archived": list(done.archived), "top": top})
        return
    new = [proposal for proposal, what in done.found if what == lessons.DRAFTED]
    for proposal in new:
        draft, of = proposal.draft, f"of {count(len(proposal.sources), 'failure')}"
        title = one_line(draft.title, max(20, wide() - 45))
        say(f"{paint('+ draft', 'green')}  {title}  {paint(draft.id, 'dim')}  {of}")
        told = (line for line in draft.text.split("\n") if line and line not in TOLD)
        say("\n".join(f"    {line}" for line in told if line.rstrip(".") != draft.title))
    others = len(done.found) - len(new)
    would = "would be made; nothing was written" if dry_run else "made"
    known = f"{count(others, 'pattern')} already known, " if others else ""
    note(f"{known}{count(len(new), 'draft')} {would}" if done.found else NOTHING_FAILED)
    if new and not dry_run:
        note(f"'rawkomem drafts keep {new[0].draft.id}' stores the first, 'rawkomem drafts drop ID' discards one")
    for id in done.archived:
        note(f"{id} {'would be' if dry_run else 'was'} archived: nobody wrote its rule")
    for lesson in done.top:
        say(_line(lesson))


@click.command("heritage")
@click.argument("id")
@click.option("--intent", multiple=True, help="An intent of the chain, earliest first; may be repeated.")
@click.option("--hypothesis", multiple=True, help="The hypothesis at a level; may be repeated.")
@click.option("--rationale", multiple=True, help="The rationale at a level; may be repeated.")
@JSON
@pass_repository
def heritage_command(
    repository: Repository, id: str, intent: tuple[str, ...], hypothesis: tuple[str, ...], rationale: tuple[str, ...],
    as_json: bool,
) -> None:  # fmt: skip
    """Show or set the intents that led to a memory.

    Without options, the command shows the chain of intents. A new chain replaces the old one. A chain has five
    levels at most.
    """
    if intent or hypothesis or rationale:
        repository.lessons.inherit(id, intent, hypothesis, rationale, user_name())
    memory = repository.get(id)
    chain = heritage_of(memory)
    if as_json:
        keys = {"intentChain": chain.intents, "hypotheses": chain.hypotheses, "rationales": chain.rationales}
        say_json({"id": memory.id, **{key: list(part) for key, part in keys.items()}})
        return
    for name, part in (("intents", chain.intents), ("hypotheses", chain.hypotheses), ("rationales", chain.rationales)):
        if part:
            say(f"{paint(f'{name:11}', 'dim')} {' → '.join(one_line(text) for text in part)}")
    if chain == HeritageChain():
        note(f"{memory.id} has no chain of intents")


def as_json_of(lesson: Lesson) -> dict[str, Any]:
    """Return a lesson for JSON, with the names of the RFC's LessonBlock and LessonContext."""
    context = lesson.context
    return {
        "lessonId": lesson.id, "patternId": lesson.pattern_id, "severity": context.severity,
        "preventativeRule": context.preventative_rule, "ruleConfidence": context.confidence,
        "applicableScope": context.applicable_scope, "situation": context.situation,
        "errorPattern": context.error_pattern, "oversight": context.oversight, "fix": context.fix,
        "inverseLesson": context.inverse_lesson, "status": lesson.status, "at": iso(lesson.at), "by": lesson.by,
        "path": lesson.path, "wireFormat": lesson.wire, "memoryId": lesson.id,
    }  # fmt: skip


def _found_json(proposal: Proposal, what: str) -> dict[str, Any]:
    draft = proposal.draft
    said = {"id": draft.id, "what": what, "kind": draft.kind, "title": draft.title, "text": draft.text}
    pattern = {"patternId": pattern_id(proposal.pattern, proposal.scope), "errorPattern": proposal.pattern}
    return {**said, **pattern, **dict(draft.fields), "derivedFrom": list(proposal.sources)}


def _line(lesson: Lesson) -> str:
    context = lesson.context
    rule = one_line(context.preventative_rule, max(20, wide() - len(lesson.id) - 32))
    severity = paint(f"{context.severity:8}", IMPORTANCE_COLORS[context.severity])
    id = paint(lesson.id + bracketed(lesson.status), "dim")
    return f"{day(lesson.at)}  {severity}  {context.confidence:.2f}  {rule}  {id}"


def _tell(lesson: Lesson, what: str, as_json: bool) -> None:
    if as_json:
        say_json({**as_json_of(lesson), "what": what})
        return
    said = "stored" if what != KNOWN else "known"
    say(f"{paint(said, 'green')}  {lesson.id}  {paint(lesson.path, 'dim')}")
    if what == HELD:
        note(f"a lesson that is trusted more contradicts it: decide with 'rawkomem review {lesson.id}'")
