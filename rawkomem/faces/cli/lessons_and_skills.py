"""Implement `rawkomem lesson`, `heritage`, `skill` and `reflect`."""

from __future__ import annotations

import os
from typing import Any

from click import Choice, File, FloatRange, Path, argument, command, group, option, pass_obj

from ...files.layout import read_stdin, read_stream, read_text_file
from ...format.mesh_fields import (
    DEFAULT_RULE_CONFIDENCE,
    LESSON_HEADINGS,
    SEVERITIES,
    LessonContext,
    pattern_id,
)
from ...git.runner import user_name
from ...learn.lessons import LESSON_HELD, LESSON_KNOWN, Lesson, LessonProposal
from ...learn.skills import NO_INTENT, PRUNED_BELOW, SKILL_FILE, Match, Skill, skill_text_in
from ...learn.syntheses import LOOKBACK_MEMORIES
from ...model.errors import BadInput
from ...model.values import as_dict, iso
from ...repository import Repository, experience, skills
from ...state.changes import HeritageChain, heritage_of
from ...text.chunks import counted
from ...text.clean import clean, one_line
from .commands import pass_repository
from .declarations import Verbs, flag, list_option, one_of, text_option
from .listing import IMPORTANCE_COLORS
from .opening import open_repository
from .options import BY, DRY_RUN, EXPLAIN, JSON, LIMIT, REASON
from .terminal import (
    bracketed,
    day,
    done_line,
    fields_of,
    note,
    paint,
    say,
    say_either,
    say_fact,
    say_json,
    say_rows,
    wide,
)

# Implement `rawkomem lesson` and `rawkomem lesson heritage`.

NOTHING_FAILED = "no drafts: no recent failure has a rule, a learning or a fix, and none happened twice in 7 days"


@group("lesson", cls=Verbs, bare="list")
def lesson_command() -> None:
    """Store and list lessons from failures.

    A lesson says what went wrong, why, and the rule that prevents it. See 'rawkomem docs lessons'.

    Examples:
      rawkomem lesson list
      rawkomem lesson distill --dry-run
    """


@lesson_command.command("add")
@option("--situation", required=True, help="What happened.")
@option(
    "--error-pattern",
    required=True,
    help="A stable name for this kind of error, like auth_fallback.",
)
@option("--oversight", required=True, help="What was overlooked.")
@option("--fix", required=True, help="How it was resolved.")
@option("--rule", "preventative_rule", required=True, help="The rule that prevents the error.")
@option(
    "--severity",
    required=True,
    type=Choice(SEVERITIES[::-1], case_sensitive=False),
    help="The severity.",
)
@option("--scope", "applicable_scope", required=True, help="When and where the rule applies.")
@text_option("--inverse", "inverse_lesson", help="What to do instead.")
@option(
    "--confidence",
    default=DEFAULT_RULE_CONFIDENCE,
    show_default=True,
    type=FloatRange(0, 1),
    help="The confidence in the rule, 0 to 1.",
)
@BY
@JSON
@pass_repository
def lesson_add(repository: Repository, by: str, as_json: bool, **fields: Any) -> None:
    """Store a lesson.

    Two lessons with the same error pattern and scope are the same lesson. If a stored lesson is at least as
    confident, nothing is written and the command shows it; otherwise the new lesson replaces it.

    Examples:
      rawkomem lesson add --situation 'Deploy on Friday' --error-pattern friday_deploy --oversight 'No one on call' --fix 'Rolled back' --rule 'Never deploy on a Friday' --severity high --scope deployments
    """
    context = LessonContext(**{**fields, "severity": fields["severity"].lower()})
    lesson, what = repository.lessons.learn(context, by or user_name())
    repository.core.follow()
    _tell_lesson(lesson, what, as_json)


@lesson_command.command("import")
@argument("file", type=File("rb"))
@JSON
@pass_repository
def lesson_import(repository: Repository, file: Any, as_json: bool) -> None:
    """Import a lesson from a YAMO block.

    If FILE is '-', it is read from standard input. Both block formats of RFC-0011 are supported. See 'rawkomem docs
    yamo'.

    Examples:
      rawkomem lesson import LESSON_FILE
    """
    lesson, what = repository.lessons.take_over(read_stream(file, file.name))
    repository.core.follow()
    _tell_lesson(lesson, what, as_json)


@lesson_command.command("list")
@argument("query", nargs=-1)
@LIMIT.but(default=experience.MAX_LESSONS)
@option(
    "--min-confidence",
    type=FloatRange(0, 1),
    help="The minimum confidence. Default: the setting lessons.minConfidence, 0.7.",
)
@text_option(
    "--pattern",
    help="List all lessons of this pattern (its id or name), with any status.",
)
@flag("--wire", help="Print YAMO blocks, for 'rawkomem lesson import'.")
@JSON
@pass_repository
def lesson_list(
    repository: Repository, query: tuple[str, ...], limit: int, min_confidence: float | None, pattern: str, wire: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """List lessons, most severe first.

    With QUERY, the command lists the lessons that match it best. Lessons that are too old or not confident enough
    to be injected are left out.

    Examples:
      rawkomem lesson list
      rawkomem lesson list deploy -n 3
    """
    if pattern:
        found = repository.lessons.by_pattern(pattern)[:limit]
    else:
        found = repository.lessons.search(" ".join(query), limit, min_confidence)
    if wire and not as_json:
        say("\n".join(lesson.wire for lesson in found).removesuffix("\n"))
    else:
        say_rows(as_json, found, lesson_json, _lesson_line)
    if not found:
        note("no lessons: 'rawkomem lesson add --help' shows how to store one")


@lesson_command.command("distill")
@DRY_RUN
@JSON
@pass_repository
def lesson_distill(repository: Repository, dry_run: bool, as_json: bool) -> None:
    """Propose drafts of lessons from recent failures.

    The command looks at failures of the last 24 hours, and at failures that happened twice within 7 days. A draft
    quotes the rule, learning or fix that somebody wrote down; the command does not invent rules. Drafts stay on
    this machine until 'rawkomem drafts keep ID' stores them. It then prints the lessons for the next session. A
    second run adds nothing.

    Examples:
      rawkomem lesson distill --dry-run
    """
    done = repository.lessons.distill(dry_run)
    repository.core.follow()
    if as_json:
        say_json(
            {
                "dry_run": dry_run,
                "found": [_proposal_json(proposal, what) for proposal, what in done.found],
                "archived": [],
                "top": [lesson_json(lesson) for lesson in done.top],
            }
        )
        return
    new = [proposal for proposal, what in done.found if what == experience.DRAFTED]
    for proposal in new:
        draft, of = proposal.draft, f"of {counted(len(proposal.sources), 'failure')}"
        title = one_line(draft.title, max(20, wide() - 45))
        say(f"{paint('+ draft', 'green')}  {title}  {paint(draft.id, 'dim')}  {of}")
        told = (line for line in draft.text.split("\n") if line and line not in LESSON_HEADINGS)
        say("\n".join(f"    {line}" for line in told if line.rstrip(".") != draft.title))
    others = len(done.found) - len(new)
    would = "would be made; nothing was written" if dry_run else "made"
    known = f"{counted(others, 'pattern')} already known, " if others else ""
    note(f"{known}{counted(len(new), 'draft')} {would}" if done.found else NOTHING_FAILED)
    if new and not dry_run:
        note(
            f"'rawkomem drafts keep {new[0].draft.id}' stores the first, 'rawkomem drafts drop ID' discards one"
        )
    for lesson in done.top:
        say(_lesson_line(lesson))


@lesson_command.command("heritage")
@argument("id")
@list_option("--intent", help="An intent of the chain, earliest first; may be repeated.")
@list_option("--hypothesis", help="The hypothesis at a level; may be repeated.")
@list_option("--rationale", help="The rationale at a level; may be repeated.")
@JSON
@pass_repository
def heritage_command(
    repository: Repository, id: str, intent: tuple[str, ...], hypothesis: tuple[str, ...], rationale: tuple[str, ...],
    as_json: bool,
) -> None:  # fmt: skip
    """Show or set the intents that led to a memory.

    Without options, the command shows the chain of intents. A new chain replaces the old one. A chain has five
    levels at most.

    Examples:
      rawkomem lesson heritage ID
      rawkomem lesson heritage ID --intent 'Fewer support calls' --intent 'Retry once'
    """
    if intent or hypothesis or rationale:
        repository.lessons.inherit(id, intent, hypothesis, rationale, user_name())
    memory = repository.get(id)
    chain = heritage_of(memory)
    if as_json:
        keys = {
            "intentChain": chain.intents,
            "hypotheses": chain.hypotheses,
            "rationales": chain.rationales,
        }
        say_json({"id": memory.id, **{key: list(part) for key, part in keys.items()}})
        return
    for name, part in (
        ("intents", chain.intents),
        ("hypotheses", chain.hypotheses),
        ("rationales", chain.rationales),
    ):
        if part:
            say_fact(name, " → ".join(map(one_line, part)))
    if chain == HeritageChain():
        note(f"{memory.id} has no chain of intents")


def lesson_json(lesson: Lesson) -> dict[str, Any]:
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


def _proposal_json(proposal: LessonProposal, what: str) -> dict[str, Any]:
    draft = proposal.draft
    return {
        "id": draft.id,
        "what": what,
        **fields_of(draft, "kind", "title", "text"),
        "patternId": pattern_id(proposal.pattern, proposal.scope),
        "errorPattern": proposal.pattern,
        **dict(draft.fields),
        "derivedFrom": list(proposal.sources),
    }


def _lesson_line(lesson: Lesson) -> str:
    context = lesson.context
    rule = one_line(context.preventative_rule, max(20, wide() - len(lesson.id) - 32))
    severity = paint(f"{context.severity:8}", IMPORTANCE_COLORS[context.severity])
    id = paint(lesson.id + bracketed(lesson.status), "dim")
    return f"{day(lesson.at)}  {severity}  {context.confidence:.2f}  {rule}  {id}"


def _tell_lesson(lesson: Lesson, what: str, as_json: bool) -> None:
    if as_json:
        say_json({**lesson_json(lesson), "what": what})
        return
    say(done_line("stored" if what != LESSON_KNOWN else "known", lesson.id, lesson.path))
    if what == LESSON_HELD:
        note(
            f"a lesson that is trusted more contradicts it: decide with 'rawkomem review {lesson.id}'"
        )


# Implement `rawkomem skill synthesize` and `rawkomem skill reflect`.

TOPIC = text_option("--topic", help="The topic. Default: any.")
LLM = flag("--llm", help="Use the language model that your config.yaml names.")
NO_WRITE = DRY_RUN.but(help="Write nothing.")


@command("synthesize")
@TOPIC
@LLM
@NO_WRITE
@JSON
@pass_repository
def synthesize_command(
    repository: Repository, topic: str, llm: bool, dry_run: bool, as_json: bool
) -> None:
    """Propose skills from learnings and lessons.

    A proposal quotes the learnings; with --llm, a language model writes it. A proposed skill is not used until you
    run 'rawkomem review ID --activate'. A second run repeats earlier proposals and adds nothing.

    Examples:
      rawkomem skill synthesize --dry-run
    """
    found = repository.skills.synthesize(topic, llm, dry_run, user_name())
    if as_json:
        first, *others = [as_dict(item) for item in found]
        say_json({**first, "others": others})
        return
    for item in found:
        if not item.skill_id:
            note(item.analysis)
            continue
        done = "would propose" if dry_run else "proposed"
        told = paint(done, "green") if item.status == "success" else item.status
        say(
            f"{told}  {one_line(item.skill_name, 80)}  {item.skill_id}\n  {one_line(item.analysis)}"
        )
    if any(item.status == "success" for item in found) and not dry_run:
        note("'rawkomem skill show ID' shows a skill, 'rawkomem review ID --activate' activates it")


@command("reflect")
@TOPIC
@option(
    "--lookback",
    default=LOOKBACK_MEMORIES,
    show_default=True,
    type=int,
    help="How many memories to read.",
)
@LLM
@NO_WRITE
@JSON
@pass_repository
def reflect_command(
    repository: Repository, topic: str, lookback: int, llm: bool, dry_run: bool, as_json: bool
) -> None:
    """Summarize what several memories have in common.

    Without --llm, or if the model fails, the command prints a prompt for a model of your choice. With --llm, it
    stores the answer as a reflection; a reflection is trusted no more than its least trusted source.

    Examples:
      rawkomem skill reflect --topic releases
    """
    made = repository.skills.reflect(topic, lookback, llm, dry_run, user_name())
    if as_json:
        say_json(made)
    elif "prompt" not in made:
        say(clean(made["reflection"]))
        kept = "not stored" if dry_run else made["id"]
        note(
            f"{one_line(made['topic'])}: confidence {made['confidence']:.2f}, {made['sourceMemoryCount']} memories, {kept}"
        )
    elif made["count"]:
        say(made["prompt"])
    else:
        note("no memories to reflect on")


# Implement `rawkomem skill`.

SKILL_OUTCOMES = {
    "added": "added",
    "amended": "amended",
    "held": "waits for a review",
    "known": "already known",
}


@group("skill", cls=Verbs, bare="list")
def skill_command() -> None:
    """Store, list, rate and export skills.

    A skill is a memory in memories/skills/ that says how to do something. Use 'rawkomem review' to decide on
    skills that wait for a review.

    Examples:
      rawkomem skill list
      rawkomem skill add SKILL.md
    """


@skill_command.command("list")
@argument("query", nargs=-1)
@LIMIT.but(default=skills.MAX_SKILLS)
@EXPLAIN.but(help="Show the parts of each score.")
@JSON
@pass_repository
def skill_list(
    repository: Repository, query: tuple[str, ...], limit: int, explain: bool, as_json: bool
) -> None:
    """List skills, or find skills for a task.

    Without QUERY, the command lists all skills, most reliable first, including skills that wait for a review. With
    QUERY, it ranks reviewed skills: 70 % of the score comes from words (name 3, intent 2, tags 1, description 1),
    30 % from meaning. 'Name: X' and 'X: …' select the skill X.

    Examples:
      rawkomem skill list
      rawkomem skill list 'release a version' --explain
    """
    question = " ".join(query).strip()
    if not question:
        nothing = "no skills yet: 'rawkomem skill add FILE' imports one"
        say_rows(as_json, repository.skills.list(limit), skill_json, _skill_line, nothing)
        return
    found = repository.skills.search(question, limit)
    nothing = "no skill matches: 'rawkomem skill list' lists all skills"
    say_rows(as_json, found, _match_json, lambda match: _match_lines(match, explain), nothing)


@skill_command.command("add")
@argument("file", metavar="FILE|-", type=Path())
@BY
@JSON
@pass_obj
def skill_add(folder: str, /, file: str, by: str, as_json: bool) -> None:
    """Import a skill file: a SKILL.md or its folder, YAMO text, or plain Markdown.

    If the same text is stored already, nothing is added. Another text with the same name amends the skill; if the
    new text is trusted less, it waits for a review.

    Examples:
      rawkomem skill add SKILL.md
    """
    text, source = _read_skill_file(folder, file)
    taken = open_repository(folder).skills.ingest(text, source, by or user_name())
    if as_json:
        say_json(as_dict(taken))
        return
    name = one_line(taken.name, 80) + bracketed(taken.status)
    say(f"{paint(SKILL_OUTCOMES[taken.outcome], 'green')}  {name}  {taken.id}  {taken.path}")
    if taken.outcome == "held":
        note(f"{taken.why}: decide with 'rawkomem review {taken.id}'")
    if taken.status == "archived":
        note(f"'rawkomem restore {taken.id}' brings it back")
    if taken.redacted:
        note("secrets were redacted")


@skill_command.command("show")
@argument("id")
@JSON
@pass_repository
def skill_show(repository: Repository, id: str, as_json: bool) -> None:
    """Show the state and the text of a skill.

    Examples:
      rawkomem skill show SKILL
    """
    skill = repository.skills.get(id)
    trust = repository.beliefs.trust(skill.memory).value
    if as_json:
        say_json(
            {
                **skill_json(skill),
                "trust": round(trust, 4),
                "text": skill_text_in(skill.memory.body),
            }
        )
        return
    say(_skill_line(skill))
    for name in ("intent", "tags", "description"):
        if skill.field(name):
            say(f"{name}: {one_line(skill.field(name), 1_000)}")
    say(f"trust: {trust:.2f}\n\n{clean(skill_text_in(skill.memory.body))}")


@skill_command.command("feedback")
@argument("id")
@one_of(
    "outcome",
    success="The skill worked: its reliability rises by 0.1.",
    failure="The skill failed: its reliability falls by 0.2.",
)
@REASON
@BY
@JSON
@pass_repository
def skill_feedback(
    repository: Repository, id: str, outcome: str | None, reason: str, by: str, as_json: bool
) -> None:
    """Record whether a skill worked.

    The reliability of a skill starts at 0.5 and stays between 0 and 1.

    Examples:
      rawkomem skill feedback SKILL --success
    """
    if not outcome:
        raise BadInput("the outcome is missing", "add --success or --failure")
    skill = repository.skills.feedback(id, outcome == "success", reason, by or user_name())
    say_either(
        as_json,
        {"id": skill.memory.id, "reliability": skill.reliability, "use_count": skill.uses},
        _skill_line(skill),
    )


@skill_command.command("prune")
@option(
    "--threshold",
    default=PRUNED_BELOW,
    show_default=True,
    type=float,
    help="Archive skills below this reliability.",
)
@DRY_RUN
@JSON
@pass_repository
def skill_prune(repository: Repository, threshold: float, dry_run: bool, as_json: bool) -> None:
    """Archive unreliable skills; 'rawkomem restore' brings one back.

    Examples:
      rawkomem skill prune --dry-run
    """
    pruned = repository.skills.prune(threshold, dry_run, user_name())
    if as_json:
        ids = [skill.memory.id for skill in pruned.skills]
        say_json(
            {
                "pruned_count": len(ids),
                "total_remaining": pruned.remaining,
                "ids": ids,
                "dry_run": dry_run,
            }
        )
        return
    for skill in pruned.skills:
        say(f"{'would archive' if dry_run else paint('archived', 'yellow')}  {_skill_line(skill)}")
    note(f"{len(pruned.skills)} pruned, {pruned.remaining} remain")


@skill_command.command("export")
@argument("id")
@argument("directory", metavar="DIR", type=Path())
@JSON
@pass_obj
def skill_export(folder: str, /, id: str, directory: str, as_json: bool) -> None:
    """Write a skill as DIR/<name>/SKILL.md, which coding agents load.

    Claude Code loads .claude/skills; Codex, OpenCode and Gemini CLI load .agents/skills. The command never
    overwrites a file that rawkomem did not write or that was changed since.

    Examples:
      rawkomem skill export SKILL .claude/skills
    """
    exported = open_repository(folder).skills.export(id, os.path.join(folder, directory))
    said = f"{paint('exported', 'green') if exported.changed else 'unchanged'}  {exported.path}"
    say_either(as_json, as_dict(exported), said)


def skill_json(skill: Skill) -> dict[str, Any]:
    """Return a skill for JSON."""
    memory = skill.memory
    return {
        "id": memory.id,
        "name": memory.title,
        "intent": skill.field("intent") or NO_INTENT,
        "description": skill.field("description"),
        "tags": list(memory.tags),
        "status": memory.status,
        "reliability": skill.reliability,
        "use_count": skill.uses,
        "injected": skill.injected,
        "last_used": iso(skill.last_used),
        "created_at": iso(memory.created),
        "path": memory.path,
    }


def _match_lines(match: Match, explain: bool) -> str:
    parts = (
        [f"      {amount:.2f} {name}: {one_line(why)}" for name, amount, why in match.parts]
        if explain
        else []
    )
    return "\n".join([f"{match.score:.2f}  {_skill_line(match.skill)}", *parts])


def _match_json(match: Match) -> dict[str, Any]:
    return {
        **skill_json(match.skill),
        "score": round(match.score, 4),
        "parts": [
            {"name": name, "amount": round(amount, 4), "why": why}
            for name, amount, why in match.parts
        ],
    }


def _skill_line(skill: Skill) -> str:
    memory = skill.memory
    told = f"reliability {skill.reliability:.1f}, {counted(skill.uses, 'use')}"
    return (
        f"{one_line(memory.title, 80)}{bracketed(memory.status)}  {told}  {paint(memory.id, 'dim')}"
    )


def _read_skill_file(folder: str, file: str) -> tuple[str, str]:
    """Return the text of a skill file and the name of the file, without its folder."""
    if file == "-":
        return read_stdin(), ""
    path = os.path.join(folder, file)
    path = os.path.join(path, SKILL_FILE) if os.path.isdir(path) else path
    return read_text_file(path), os.path.basename(path)


skill_command.add_command(synthesize_command)
skill_command.add_command(reflect_command)
