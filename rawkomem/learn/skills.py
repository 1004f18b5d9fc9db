"""Skills: rate and rank them, plan to add or archive them, and export them for agent hosts."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256

from ..files.replace import is_inside, refuse_exit, replace_whole
from ..format.frontmatter import emit_fields
from ..format.skill_files import (
    DESCRIPTION_LENGTH,
    NO_INTENT,
    SkillText,
    as_read_back,
    skill_body,
    skill_text_in,
    split_front,
)
from ..index.ingest import searchable_title
from ..model.entries import EMPTY_EXTRA, Entry, Memory, Plan, Value
from ..model.errors import BadInput, Refused, Unwritable
from ..model.ids import kebab, slug
from ..model.values import ACTIVE, filled, record, replace
from ..state.changes import archiving, plan_amend
from ..state.fold import new_memory, plan_quarantined
from ..state.plans import Trust, plan_add
from ..text.clean import clean, one_line
from ..text.language import language
from ..text.prose import summarize

# Rate skills, find those that fit a task, and plan to add or to archive them. Pure.

SKILL_KIND = "skill"
# Reliability in RFC-0011: its start value and what each use adds
START_RELIABILITY = 0.5
SUCCESS = 0.1
FAILURE = -0.2
PRUNED_BELOW = 0.3  # reliability (RFC-0011)
# RFC-0011: shares of a skill's score
KEYWORD_SHARE = 0.7
MEANING_SHARE = 0.3
# RFC-0011: points for a word in each field
FIELD_POINTS = {
    "name": 3,
    "intent": 2,
    "tags": 1,
    "description": 1,
}
# with at least this, a skill matches even if it shares no word with the question
MIN_SKILL_COSINE = 0.3


@record
class Skill:
    """A skill: its memory, its reliability, and how often it was used.

    `uses` counts the votes in its file. `injected` and `last_used` come from this machine's own records.
    """

    memory: Memory
    reliability: float
    uses: int
    injected: int = 0
    last_used: int = 0

    def field(self, name: str) -> str:
        """Return the skill's name, intent, tags or description as text."""
        memory = self.memory
        named = {"name": memory.title, "tags": " ".join(memory.tags)}
        return str({**memory.extra, **named}.get(name, ""))


@record
class Match:
    """A skill that fits a question, its score, and the parts (name, amount, why) that add up to it."""

    skill: Skill
    score: float
    parts: tuple[tuple[str, float, str], ...]


def reliability_after(votes: str) -> float:
    """Return the reliability of a skill, from 0 to 1, after these votes (`+`, `-`) in their order."""
    value = START_RELIABILITY
    for vote in votes:
        value += SUCCESS if vote == "+" else FAILURE
        value = round(max(0.0, min(1.0, value)), 1)
    return value


def skill_of(memory: Memory, injected: int = 0, last_used: int = 0) -> Skill:
    """Return a memory of kind `skill` as a Skill, with the reliability that its votes give."""
    return Skill(
        memory, reliability_after(memory.votes), len(memory.votes), injected, last_used
    )


# Search


def rank_skills(
    question: str, skills: Sequence[Skill], cosine: Mapping[str, float]
) -> list[Match]:
    """Return the skills that fit a question, best first. `cosine` maps a skill's id to its similarity in meaning."""
    head, colon, rest = question.strip().partition(":")
    name = rest if head.strip().casefold() == "name" else head
    name = name.strip().casefold()
    called = [
        skill for skill in skills if colon and skill.memory.title.casefold() == name
    ]
    if called:
        best = max(called, key=lambda skill: (skill.reliability, skill.memory.id))
        return [Match(best, 1.0, (("called", 1.0, "the question names the skill"),))]
    asked = _stems(question)
    matches = [
        _match_of(asked, skill, max(0.0, cosine.get(skill.memory.id, 0.0)))
        for skill in skills
    ]
    fitting = [match for match in matches if match.parts]
    return sorted(
        fitting,
        key=lambda match: (
            -match.score,
            -match.skill.reliability,
            match.skill.memory.id,
        ),
    )


def _match_of(asked: Mapping[str, str], skill: Skill, cosine: float) -> Match:
    """Return the score of a skill. A word gets the points of all fields that contain it, at most those of `name`."""
    held = {name: _stems(skill.field(name)) for name in FIELD_POINTS}
    parts: list[tuple[str, float, str]] = []
    shared = [
        (word, [name for name in FIELD_POINTS if root in held[name]])
        for root, word in asked.items()
    ]
    most = FIELD_POINTS["name"]
    points = sum(
        min(most, sum(FIELD_POINTS[name] for name in names)) for _, names in shared
    )
    if points:
        said = "; ".join(
            f"{word} in {', '.join(names)}" for word, names in shared if names
        )
        parts.append(("keywords", KEYWORD_SHARE * points / (most * len(asked)), said))
    if cosine >= MIN_SKILL_COSINE or (points and cosine):
        parts.append(("meaning", MEANING_SHARE * cosine, f"cosine {cosine:.2f}"))
    return Match(skill, sum(amount for _, amount, _ in parts), tuple(parts))


def _stems(text: str) -> dict[str, str]:
    """Return stem → word for a text's content words, or for all its words if none is specific. Names are split."""
    title = searchable_title(text)
    words = language().content_words(title) or language().words(title)
    return dict(zip(language().stemmer(words), words, strict=True))


# Adding


def known_skill(skill: SkillText, known: Sequence[Memory]) -> Memory | None:
    """Return the known skill with exactly this text, in any status except deleted; None if there is none."""
    body = as_read_back(skill_body(skill.text))
    return next(
        (
            memory
            for memory in known
            if memory.status != "deleted" and memory.body == body
        ),
        None,
    )


def plan_skill(
    skill: SkillText,
    source: str,
    by: str,
    known: Sequence[Memory],
    trust: Trust,
    extra: Mapping[str, Value] = EMPTY_EXTRA,
) -> Plan:
    """Plan to add a skill, or to amend the active skill of that name. If it is trusted less, hold it for review."""
    entry = _skill_entry(skill, source, by, extra)
    (new,) = plan_add(entry).entries
    name = skill.name.casefold()
    old = next(
        (
            memory
            for memory in known
            if memory.status == ACTIVE and memory.title.casefold() == name
        ),
        None,
    )
    if old is None:
        return Plan((new,), f"add skill {skill.name!r}")
    if trust(new_memory(new)) >= trust(old):
        return _amended_skill(old, entry)
    return plan_quarantined(
        new, f"trusted less than the skill of this name: {old.id}", by, (old.id,)
    )


def _skill_entry(
    skill: SkillText, source: str, by: str, extra: Mapping[str, Value]
) -> Entry:
    # the placeholder must not be searched
    intent = "" if skill.intent == NO_INTENT else skill.intent
    said = {"intent": intent, "description": skill.description}
    return Entry(
        kind=SKILL_KIND,
        title=skill.name,
        when=skill.when,
        tags=skill.tags,
        source=source,
        by=by,
        body=skill_body(skill.text),
        extra={**extra, **filled(said)},
    )


def _amended_skill(old: Memory, entry: Entry) -> Plan:
    given = {
        "title": entry.title,
        "whenToUse": entry.when,
        "tags": entry.tags,
        "source": entry.source,
    }
    extra = {"intent": "", "description": "", **entry.extra}
    named = tuple(key for key, value in given.items() if value)
    return plan_amend(old, replace(entry, kind="amend", given=named, extra=extra))


def plan_skill_prune(skills: Sequence[Skill], threshold: float, by: str) -> Plan:
    """Plan to archive the active skills below a reliability. `rawkomem restore` brings one back."""
    if not 0 <= threshold <= 1:
        raise BadInput(
            f"{threshold:g} is no reliability", "give a number from 0 to 1, like 0.3"
        )
    weak = [
        skill
        for skill in skills
        if skill.memory.status == ACTIVE and skill.reliability < threshold
    ]
    below = f"is below {threshold:g}"
    archived = [
        archiving(one.memory, f"pruned: reliability {one.reliability:g} {below}", by)
        for one in weak
    ]
    return Plan(tuple(archived))


# Export a skill as a folder that agent hosts load: `<name>/SKILL.md` in the format of Agent
# Skills.
#
# Each exported file carries a checksum of its own text. A file without one, or with a wrong one,
# is never overwritten.

SKILL_FILE = "SKILL.md"
# `allowed-tools` is not exported: a person must grant tools
KEPT_KEYS = (
    "license",
    "compatibility",
)
COMPATIBILITY_LENGTH = 500  # characters (Agent Skills)
DESCRIPTION_WORDS = 40  # of a description that is summarized from the text
# What hosts run or read when they load a skill: !`command`, a fence ```!, and @path.
HOST_COMMAND = re.compile(
    r"!(?=`)(`[^`\n]*`?)|^([ \t>]*(?:`{3,}|~{3,}))[ \t]*!([^\n]*)", re.MULTILINE
)
HOST_FILE = re.compile(
    r"(?<!\S)@(?=\"?(?:[~/$]|\.{1,2}[/\w]|[\w-]+(?:/[\w.-]+)*\.\w))(\S+)"
)
EXPORT_STAMP = re.compile(r"^  rawkomem: (\S+) ([0-9a-f]{16})\n", re.MULTILINE)


@record
class ExportedSkill:
    """The file of an exported skill, whether the export changed it, and the commands and files that it defused."""

    path: str
    changed: bool
    defused: tuple[str, ...] = ()


def export_skill(memory: Memory, folder: str, inside: str) -> ExportedSkill:
    """Write a skill's folder below `folder`, which must be outside of `inside`, the .rawko folder.

    Raise Refused if the skill is not active or the file is not ours, and Unwritable if it cannot be written.
    """
    if memory.status != ACTIVE:
        raise Refused(
            f"{memory.id} is {memory.status}: only active skills are exported",
            "review or restore it first",
        )
    name = portable_name(memory.title)
    target = os.path.join(folder, name)
    if is_inside(target, inside):
        raise Refused(
            f"a skill is not exported into the memories: {target}",
            "name a folder like .claude/skills",
        )
    refuse_exit(target, os.path.dirname(inside))
    file = os.path.join(target, SKILL_FILE)
    text = portable_text(memory, name)
    before = _read_own(file, target, memory.id)
    if before != text:
        try:
            replace_whole(file, text.encode())
        except OSError as failure:
            raise Unwritable(
                f"cannot write {file}: {failure.strerror}",
                "check permissions and free space",
            ) from None
    found = defused(skill_text_in(memory.body))[1]
    return ExportedSkill(file, before != text, found)


def defused(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text of a skill without commands that a host would run and files that it would read, and these.

    A space after `!` or `@` defuses it; the fence ```! becomes a fence of shell code.
    """
    found: list[str] = []

    def run(match: re.Match[str]) -> str:
        found.append(match[0].strip())
        return f"! {match[1]}" if match[1] else f"{match[2]}sh{match[3]}"

    def read(match: re.Match[str]) -> str:
        found.append(match[0])
        return f"@ {match[1]}"

    text = HOST_COMMAND.sub(run, text)
    return HOST_FILE.sub(read, text), tuple(found)


def portable_name(title: str) -> str:
    """Return a name for skill and folder that every host accepts: at most 64 lower-case letters, digits and hyphens."""
    return slug(kebab(title) or title)


def portable_text(memory: Memory, name: str) -> str:
    """Return the text of a skill's SKILL.md, with its checksum."""
    front, body = split_front(defused(skill_text_in(memory.body))[0])
    said = (
        str(memory.extra.get("description", ""))
        or summarize([(body, 1.0)], DESCRIPTION_WORDS)
        or memory.title
    )
    fields: dict[str, Value] = {
        "name": name,
        "description": one_line(defused(said)[0], DESCRIPTION_LENGTH),
    }
    fields |= {
        key: one_line(value, COMPATIBILITY_LENGTH)
        for key in KEPT_KEYS
        if isinstance(value := front.get(key), str)
    }
    head = f"---\n{emit_fields(fields)}metadata:\n"
    rest = f"---\n\n{_portable_body(memory, body)}\n"
    return f"{head}  rawkomem: {memory.id} {_checksum(head + rest)}\n{rest}"


def _portable_body(memory: Memory, body: str) -> str:
    """Return the text below the frontmatter. YAMO text is put into a code fence, since it is not Markdown."""
    title = f"# {one_line(memory.title)}"
    is_yamo = body.partition("\n")[0].rstrip().endswith(";")
    return f"{title}\n\n```yamo\n{body}\n```" if is_yamo else body or title


def _checksum(text: str) -> str:
    return sha256(clean(text).encode("utf-8", "replace")).hexdigest()[:16]


def _read_own(file: str, folder: str, id: str) -> str:
    """Return the text of this skill's earlier export; empty if there is no file. Refuse any other file or a link."""
    if os.path.islink(folder) or os.path.islink(file):
        raise Refused(f"{file} is a link", "name another folder, or remove the link")
    try:
        with open(file, encoding="utf-8", newline="") as stream:
            text = stream.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        text = ""
    stamp = EXPORT_STAMP.search(text)
    if not stamp:
        raise Refused(
            f"{file} was not written by rawkomem",
            "name another folder, or move that file away",
        )
    if stamp[2] != _checksum(EXPORT_STAMP.sub("", text, count=1)):
        raise Refused(
            f"{file} was changed since it was exported",
            "store it with 'rawkomem skill add', or move it away",
        )
    if stamp[1] != id:
        raise Refused(
            f"{file} is an export of {stamp[1]}",
            "rename one of the two skills, or name another folder",
        )
    return text
