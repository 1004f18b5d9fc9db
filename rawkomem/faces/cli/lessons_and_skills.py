"""Implement `rawkomem lesson` and `skill`."""

from __future__ import annotations

import os
from typing import Any

from click import Abort, File, Path, argument

from ...files.layout import read_stdin, read_stream, read_text_file
from ...format.mesh_fields import (
    DEFAULT_RULE_CONFIDENCE,
    SEVERITIES,
    Lesson,
    LessonContext,
    lesson_pattern,
)
from ...format.skill_files import NO_INTENT, skill_text_in
from ...hosts.person import PERSON, confirmed
from ...learn.lessons import LESSON_HELD, LESSON_KNOWN
from ...learn.skills import PRUNED_BELOW, SKILL_FILE, ExportedSkill
from ...learn.syntheses import LOOKBACK_MEMORIES
from ...model.errors import BadInput
from ...repository import Repository, experience
from ...repository.experience import Ingested, Synthesis
from ...state.changes import heritage_of
from ...state.trust import DERIVED
from ...text.chunks import counted
from ...text.difference import risk_lines, risks_of
from .answers import Fields
from .declarations import answer, one_of, prints_json, verbs
from .opening import note_if_uncounted
from .options import BY, DRY_RUN, REASON
from .terminal import note, paint, say

LESSON = Fields(
    "lessonId=id patternId=pattern_id severity=context.severity preventativeRule=context.preventative_rule"
    " ruleConfidence=context.confidence applicableScope=context.applicable_scope situation=context.situation"
    " errorPattern=context.error_pattern oversight=context.oversight fix=context.fix"
    " inverseLesson=context.inverse_lesson status at:iso by path wireFormat=wire memoryId=id",
    "{at:day}  {severity:<8|hue}  {ruleConfidence:.2f}  {preventativeRule:wide 70}  {lessonId:dim}{status:mark|dim}",
    "no lessons: 'rawkomem lesson add --help' shows how to store one",
)
NEW_LESSON = LESSON.but(
    "what",
    "{done:green}  {lessonId}  {path:dim}",
    remarks="{held:?a lesson that is trusted more contradicts it: decide with 'rawkomem review %'}",
)
PROPOSED_LESSON = Fields(
    "id=0.id what=1 kind=0.kind title=0.title text=0.text patternId *0.fields derivedFrom",
    "{what:=+ draft|green}  {title:wide 45}  {id:dim}  of {derivedFrom:n failure}\n{text:indent}",
    patternId=lambda pair: lesson_pattern(dict(pair[0].fields)),
    derivedFrom=lambda pair: dict(pair[0].fields)[DERIVED].split(),
)
DISTILLED = Fields(
    "dry_run found top",
    "{drafts:text}\n{top_lines:text}",
    remarks="{0.found:yes {known:text}{new:n draft} {dry_run:yes would be made; nothing was written/made}/"
    "no drafts: no recent failure has a rule, a learning or a fix, and none happened twice in 7 days}\n"
    "{first:?'rawkomem drafts keep %' stores the first}",
    found=[PROPOSED_LESSON],
    top=[LESSON],
)
HERITAGE = Fields(
    "id intentChain=intents hypotheses rationales",
    "{chain:?intents     %}\n{hypotheses:?hypotheses  %}\n{rationales:?rationales  %}",
    remarks="{empty:?% has no chain of intents}",
    chain=lambda heritage: " → ".join(heritage.intents),
)


@verbs("lesson", bare="list")
def lesson_command() -> None:
    """Store and list lessons from failures.

    A lesson says what went wrong, why, and the rule that prevents it. See 'rawkomem docs lessons'.

    Examples:
      rawkomem lesson list
      rawkomem lesson distill --dry-run
    """


@lesson_command.verb(
    "add",
    "--situation TEXT!: What happened.",
    "--error-pattern TEXT!: A stable name for this kind of error, like auth_fallback.",
    "--oversight TEXT!: What was overlooked.",
    "--fix TEXT!: How it was resolved.",
    "--rule TEXT! >preventative_rule: The rule that prevents the error.",
    f"--severity {'|'.join(SEVERITIES[::-1])}!: The severity.",
    "--scope TEXT! >applicable_scope: When and where the rule applies.",
    "--inverse TEXT >inverse_lesson: What to do instead.",
    f"--confidence 0.0..1.0 ={DEFAULT_RULE_CONFIDENCE}: The confidence in the rule, 0 to 1.",
    BY,
    NEW_LESSON,
)
def lesson_add(repository: Repository, by: str, as_json: bool, **options: Any) -> int:
    """Store a lesson.

    Two lessons with the same error pattern and scope are the same lesson. If a stored lesson is at least as
    confident, nothing is written and the command shows it; otherwise the new lesson replaces it.

    Examples:
      rawkomem lesson add --situation 'Deploy on Friday' --error-pattern friday_deploy --oversight 'No one on call' --fix 'Rolled back' --rule 'Never deploy on a Friday' --severity high --scope deployments
    """
    return _answer_learned(*repository.lessons.learn(LessonContext(**options), by))


@lesson_command.verb("import", argument("file", type=File("rb")), NEW_LESSON)
def lesson_import(repository: Repository, file: Any) -> int:
    """Import a lesson from a YAMO block.

    If FILE is '-', it is read from standard input. Both block formats of RFC-0011 are supported. See 'rawkomem docs
    yamo'.

    Examples:
      rawkomem lesson import LESSON_FILE
    """
    text = read_stream(file, file.name)
    return _answer_learned(*repository.lessons.take_over(text))


def _answer_learned(lesson: Lesson, what: str) -> int:
    done = "known" if what == LESSON_KNOWN else "stored"
    held = lesson.id if what == LESSON_HELD else ""
    return answer(lesson, what=what, done=done, held=held)


@lesson_command.verb(
    "list",
    "[QUERY]...",
    f"--limit -n 1.. ={experience.MAX_LESSONS}: Maximum number of results.",
    "--min-confidence 0.0..1.0: The minimum confidence. Default: the setting lessons.minConfidence, 0.7.",
    "--pattern TEXT: List all lessons of this pattern (its id or name), with any status.",
    "--wire: Print YAMO blocks, for 'rawkomem lesson import'.",
    [LESSON],
)
def lesson_list(
    repository: Repository, query: tuple[str, ...], limit: int, min_confidence: float | None, pattern: str, wire: bool
) -> Any:  # fmt: skip
    """List lessons, most severe first.

    With QUERY, the command lists the lessons that match it best. Lessons that are too old or not confident enough
    to be injected are left out.

    Examples:
      rawkomem lesson list
      rawkomem lesson list deploy -n 3
    """
    if pattern:
        lessons = repository.lessons.by_pattern(pattern)[:limit]
    else:
        lessons = repository.lessons.search(" ".join(query), limit, min_confidence)
    return answer(lessons, LESSON.but(line="{wireFormat:text}") if wire else None)


@lesson_command.verb("distill", DRY_RUN, DISTILLED)
def lesson_distill(repository: Repository, dry_run: bool) -> int:
    """Propose drafts of lessons from recent failures.

    The command looks at failures of the last 24 hours, and at failures that happened twice within 7 days. A draft
    quotes the rule, learning or fix that somebody wrote down; the command does not invent rules. Drafts stay on
    this machine until 'rawkomem drafts keep ID' stores them. It then prints the lessons for the next session. A
    second run adds nothing.

    Examples:
      rawkomem lesson distill --dry-run
    """
    distilled = repository.lessons.distill(dry_run)
    new = [pair for pair in distilled.found if pair[1] == experience.DRAFTED]
    others = len(distilled.found) - len(new)
    return answer(
        distilled,
        dry_run=dry_run,
        drafts="\n".join(map(PROPOSED_LESSON.text, new)),
        known=f"{counted(others, 'pattern')} already known, " if others else "",
        new=new,
        first=new[0][0].id if new and not dry_run else "",
    )


@lesson_command.verb(
    "heritage",
    "ID",
    "--intent TEXT...: An intent of the chain, earliest first; may be repeated.",
    "--hypothesis TEXT...: The hypothesis at a level; may be repeated.",
    "--rationale TEXT...: The rationale at a level; may be repeated.",
    HERITAGE,
)
def heritage_command(
    repository: Repository, id: str, intent: tuple[str, ...], hypothesis: tuple[str, ...], rationale: tuple[str, ...],
    by: str,
) -> int:  # fmt: skip
    """Show or set the intents that led to a memory.

    Without options, the command shows the chain of intents. A new chain replaces the old one. A chain has five
    levels at most.

    Examples:
      rawkomem lesson heritage ID
      rawkomem lesson heritage ID --intent 'Fewer support calls' --intent 'Retry once'
    """
    if intent or hypothesis or rationale:
        repository.lessons.inherit(id, intent, hypothesis, rationale, by)
        note_if_uncounted(repository, id)
    memory = repository.get(id)
    chain = heritage_of(memory)
    is_empty = not (
        intent
        or hypothesis
        or rationale
        or chain.intents
        or chain.hypotheses
        or chain.rationales
    )
    return answer(chain, id=memory.id, empty=memory.id if is_empty else "")


TOPIC = "--topic TEXT: The topic. Default: any."
LLM = "--llm: Use the language model that your config.yaml names."
NO_WRITE = "--dry-run: Write nothing."
SKILL_LINE = (
    "{name:80}{status:mark}  reliability {reliability:.1f}, {use_count:n use}  {id:dim}"
)
SKILL = Fields(
    "id=memory.id name=memory.title intent description tags=memory.tags status=memory.status reliability"
    " use_count=uses injected last_used:iso created_at:iso=memory.created path=memory.path",
    SKILL_LINE,
    "no skills yet: 'rawkomem skill add FILE' imports one",
    intent=lambda skill: skill.field("intent") or NO_INTENT,
    description=lambda skill: skill.field("description"),
)
SCORE_PART = Fields(
    "name=0 amount:round=1 why=2", "      {amount:.2f} {name}: {why:200}"
)
SKILL_MATCH = Fields(
    "*skill score:round parts",
    "{score:.2f}  " + SKILL_LINE,
    "no skill matches: 'rawkomem skill list' lists all skills",
    skill=SKILL,
    parts=[SCORE_PART],
)
WHOLE_SKILL = SKILL.but(
    "trust:round text",
    SKILL_LINE
    + "\nintent: {intent:1000}\ntags: {tags}\n{description:1000|?description: %}\n"
    "trust: {trust:.2f}\n\n{text:text}",
    text=lambda skill: skill_text_in(skill.memory.body),
)
IMPORTED_SKILL = Fields(
    of=Ingested,
    line="{outcome:green}  {name:80}{status:mark}  {id}  {path}",
    remarks="{held:?{why}: decide with 'rawkomem review %'}\n{archived:?'rawkomem restore %' brings it back}\n"
    "{redacted:?secrets were redacted}",
    held=lambda taken: taken.id if taken.outcome == "held" else "",
    archived=lambda taken: taken.id if taken.status == "archived" else "",
)
PRUNED = Fields(
    "pruned_count:count=skills total_remaining=remaining ids=skills.memory.id dry_run",
    "{dry_run:yes would archive/archived|yellow}  {0.skills.memory.title}",
    remarks="{pruned_count} pruned, {total_remaining} remain",
)
EXPORTED_SKILL = Fields(
    of=ExportedSkill,
    line="{changed:yes exported/unchanged|green}  {path}",
    remarks="{defused:?defused, so that no host runs or reads it: %}",
)
SYNTHESIS = Fields(
    of=Synthesis,
    line="{done:green}  {skill_name:80|~no skill}  {skill_id}\n  {analysis:text}",
)
REFLECTION = Fields(
    "topic count? context? prompt? id? reflection? confidence? sourceMemoryCount? yamoBlock? createdAt?",
    "{reflection:~|text}{prompt:~|text}",
    remarks="{stored:?confidence {confidence}, {sourceMemoryCount} memories, %}",
)


@verbs("skill", bare="list")
def skill_command() -> None:
    """Store, list, rate and export skills.

    A skill is a memory in memories/skills/ that says how to do something. Use 'rawkomem review' to decide on
    skills that wait for a review.

    Examples:
      rawkomem skill list
      rawkomem skill add SKILL.md
    """


@skill_command.verb(
    "list",
    "[QUERY]...",
    f"--limit -n 1.. ={experience.MAX_SKILLS}: Maximum number of results.",
    "--explain: Show the parts of each score.",
    [SKILL],
    [SKILL_MATCH],
)
def skill_list(
    repository: Repository, query: tuple[str, ...], limit: int, explain: bool
) -> Any:
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
        return repository.skills.list(limit)
    matches = repository.skills.search(question, limit)
    line = f"{SKILL_MATCH.line}\n{{parts_lines:text}}" if explain else SKILL_MATCH.line
    return answer(matches, SKILL_MATCH.but(line=line))


@skill_command.verb(
    "add", argument("file", metavar="FILE|-", type=Path()), BY, IMPORTED_SKILL
)
def skill_add(folder: str, repository: Repository, file: str, by: str) -> Any:
    """Import a skill file: a SKILL.md or its folder, YAMO text, or plain Markdown.

    If the same text is stored already, nothing is added. Another text with the same name amends the skill; if the
    new text is trusted less, it waits for a review.

    Examples:
      rawkomem skill add SKILL.md
    """
    path = os.path.join(folder, file)
    path = os.path.join(path, SKILL_FILE) if os.path.isdir(path) else path
    text = read_stdin() if file == "-" else read_text_file(path)
    source = "" if file == "-" else os.path.basename(path)
    return repository.skills.ingest(text, source, by)


@skill_command.verb("show", "ID", WHOLE_SKILL)
def skill_show(repository: Repository, id: str) -> None:
    """Show the state and the text of a skill.

    Examples:
      rawkomem skill show SKILL
    """
    skill = repository.skills.get(id)
    answer(skill, trust=round(repository.beliefs.trust(skill.memory).value, 4))


@skill_command.verb(
    "feedback",
    "ID",
    one_of(
        "outcome",
        success="The skill worked: its reliability rises by 0.1.",
        failure="The skill failed: its reliability falls by 0.2.",
    ),
    REASON,
    BY,
    SKILL,
)
def skill_feedback(
    repository: Repository, id: str, outcome: str | None, reason: str, by: str
) -> Any:
    """Record whether a skill worked.

    The reliability of a skill starts at 0.5 and stays between 0 and 1.

    Examples:
      rawkomem skill feedback SKILL --success
    """
    if not outcome:
        raise BadInput("the outcome is missing", "add --success or --failure")
    return repository.skills.feedback(id, outcome == "success", reason, by)


@skill_command.verb(
    "prune",
    f"--threshold 0.0.. ={PRUNED_BELOW}: Archive skills below this reliability.",
    DRY_RUN,
    PRUNED,
)
def skill_prune(
    repository: Repository, threshold: float, dry_run: bool, by: str
) -> int:
    """Archive unreliable skills; 'rawkomem restore' brings one back.

    Examples:
      rawkomem skill prune --dry-run
    """
    pruned = repository.skills.prune(threshold, dry_run, by)
    return answer(pruned, dry_run=dry_run)


@skill_command.verb(
    "export", "ID", argument("directory", metavar="DIR", type=Path()), EXPORTED_SKILL
)
def skill_export(folder: str, repository: Repository, id: str, directory: str) -> Any:
    """Write a skill as DIR/<name>/SKILL.md, which coding agents load.

    Claude Code loads .claude/skills; Codex, OpenCode and Gemini CLI load .agents/skills. The command never
    overwrites a file that rawkomem did not write or that was changed since.

    If no person vouches for the skill, only a person can export it: the command shows the text and asks. Commands
    (!`…`) and files (@…) that a host would run or read are defused and listed.

    Examples:
      rawkomem skill export SKILL .claude/skills
    """
    skill = repository.skills.get(id)
    if repository.core.via == PERSON and not repository.skills.is_vouched(skill.memory):
        say(skill_text_in(skill.memory.body))
        for line in risk_lines(risks_of(skill.memory)):
            say(paint(line, "red"))
        if not confirmed("No person vouches for this skill. Export it?"):
            raise Abort
    return repository.skills.export(id, os.path.join(folder, directory))


@skill_command.verb("synthesize", TOPIC, LLM, NO_WRITE, SYNTHESIS.but("others"))
def synthesize_command(
    repository: Repository, topic: str, llm: bool, dry_run: bool, by: str
) -> None:
    """Propose skills from learnings and lessons.

    A proposal quotes the learnings; with --llm, a language model writes it. A proposed skill is not used until you
    run 'rawkomem review ID --activate'. A second run repeats earlier proposals and adds nothing.

    Examples:
      rawkomem skill synthesize --dry-run
    """
    first, *others = repository.skills.synthesize(topic, llm, dry_run, by)
    words = {"success": "would propose" if dry_run else "proposed"}
    fields = SYNTHESIS.but("others", done=lambda one: words.get(one.status, one.status))
    answer(first, fields, others=others)
    if not prints_json():
        fields.say(others, False)
    if first.status == "success" and not dry_run:
        note(
            "'rawkomem skill show ID' shows a skill, 'rawkomem review ID --activate' activates it"
        )


@skill_command.verb(
    "reflect",
    TOPIC,
    f"--lookback 0.. ={LOOKBACK_MEMORIES}: How many memories to read.",
    LLM,
    NO_WRITE,
    REFLECTION,
)
def reflect_command(
    repository: Repository, topic: str, lookback: int, llm: bool, dry_run: bool, by: str
) -> int:
    """Summarize what several memories have in common.

    Without --llm, or if the model fails, the command prints a prompt for a model of your choice. With --llm, it
    stores the answer as a reflection; a reflection is trusted no more than its least trusted source.

    Examples:
      rawkomem skill reflect --topic releases
    """
    reflection = repository.skills.reflect(topic, lookback, llm, dry_run, by)
    if reflection.get("count") == 0 and not prints_json():
        note("no memories to reflect on")
        return 0
    stored = "not stored" if dry_run else reflection.get("id")
    return answer(reflection, stored=stored if "reflection" in reflection else "")
