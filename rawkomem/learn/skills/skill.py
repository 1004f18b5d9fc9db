"""Rate skills, find those that fit a task, and plan to add or to archive them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...index.passages import searchable_title
from ...model.entry import NOTHING, Entry, Plan
from ...model.errors import BadInput
from ...model.kinds import ACTIVE
from ...model.record import record, replace
from ...state.changes.amend import plan_amend
from ...state.changes.archive import archiving
from ...state.changes.quarantine import plan_held
from ...state.decide import plan_add
from ...state.fold import created
from ...text.language import language
from .text import NO_INTENT, as_read, body_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...model.entry import Memory, Value
    from ...state.changes import Trust
    from .text import SkillText

KIND = "skill"
# Reliability in RFC-0011: its start value and what each use adds, in tenths so that sums are exact.
START_TENTHS, SUCCESS_TENTHS, FAILURE_TENTHS, MAX_TENTHS = 5, 1, -2, 10
PRUNED_BELOW = 0.3  # reliability (RFC-0011)
KEYWORD_SHARE, MEANING_SHARE = 0.7, 0.3  # RFC-0011: shares of a skill's score
FIELDS = {"name": 3, "intent": 2, "tags": 1, "description": 1}  # RFC-0011: points for a word in each field
MIN_COSINE = 0.3  # with at least this, a skill matches even if it shares no word with the question


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
        if name == "name":
            return self.memory.title
        return " ".join(self.memory.tags) if name == "tags" else str(self.memory.extra.get(name, ""))


@record
class Match:
    """A skill that fits a question, its score, and the parts (name, amount, why) that add up to it."""

    skill: Skill
    score: float
    parts: tuple[tuple[str, float, str], ...]


def reliability(votes: str) -> float:
    """Return the reliability of a skill, from 0 to 1, after these votes (`+`, `-`) in their order."""
    tenths = START_TENTHS
    for vote in votes:
        tenths = max(0, min(MAX_TENTHS, tenths + (SUCCESS_TENTHS if vote == "+" else FAILURE_TENTHS)))
    return tenths / MAX_TENTHS


def skill_of(memory: Memory, injected: int = 0, last_used: int = 0) -> Skill:
    """Return a memory of kind `skill` as a Skill, with the reliability that its votes give."""
    return Skill(memory, reliability(memory.votes), len(memory.votes), injected, last_used)


# Search


def rank(question: str, skills: Sequence[Skill], cosine: Mapping[str, float]) -> list[Match]:
    """Return the skills that fit a question, best first. `cosine` maps a skill's id to its similarity in meaning."""
    named = called(question, skills)
    if named:
        return [Match(named, 1.0, (("called", 1.0, "the question names the skill"),))]
    matches = [_match(_stems(question), skill, max(0.0, cosine.get(skill.memory.id, 0.0))) for skill in skills]
    fitting = [match for match in matches if match.parts]
    return sorted(fitting, key=lambda match: (-match.score, -match.skill.reliability, match.skill.memory.id))


def called(question: str, skills: Sequence[Skill]) -> Skill | None:
    """Return the skill that a question names (`Name: X` or `X: do this`). If names are equal, the most reliable one."""
    head, colon, rest = question.strip().partition(":")
    name = rest if head.strip().casefold() == "name" else head
    wanted = name.strip().casefold() if colon else ""
    found = [skill for skill in skills if wanted and skill.memory.title.casefold() == wanted]
    return max(found, key=lambda skill: (skill.reliability, skill.memory.id), default=None)


def _match(asked: Mapping[str, str], skill: Skill, cosine: float) -> Match:
    """Return the score of a skill. A word gets the points of all fields that contain it, at most those of `name`."""
    held = {name: _stems(skill.field(name)) for name in FIELDS}
    parts: list[tuple[str, float, str]] = []
    shared = [(word, [name for name in FIELDS if root in held[name]]) for root, word in asked.items()]
    most = max(FIELDS.values())
    points = sum(min(most, sum(FIELDS[name] for name in names)) for _, names in shared)
    if points:
        said = "; ".join(f"{word} in {', '.join(names)}" for word, names in shared if names)
        parts.append(("keywords", KEYWORD_SHARE * points / (most * len(asked)), said))
    if cosine >= MIN_COSINE or (points and cosine):
        parts.append(("meaning", MEANING_SHARE * cosine, f"cosine {cosine:.2f}"))
    return Match(skill, sum(amount for _, amount, _ in parts), tuple(parts))


def _stems(text: str) -> dict[str, str]:
    """Return stem → word for a text's content words, or for all its words if none is specific. Names are split."""
    title = searchable_title(text)
    words = language().content_words(title) or language().words(title)
    return dict(zip(language().stemmer(words), words, strict=True))


# Adding


def known_as(skill: SkillText, known: Sequence[Memory]) -> Memory | None:
    """Return the known skill with exactly this text, in any status except deleted; None if there is none."""
    body = as_read(body_of(skill.text))
    return next((memory for memory in known if memory.status != "deleted" and memory.body == body), None)


def plan_ingest(
    skill: SkillText, source: str, by: str, known: Sequence[Memory], trust: Trust, extra: Mapping[str, Value] = NOTHING
) -> Plan:
    """Plan to add a skill, or to amend the active skill of that name. If it is trusted less, hold it for review."""
    entry = _entry(skill, source, by, extra)
    (new,) = plan_add(entry).entries
    name = skill.name.casefold()
    old = next((memory for memory in known if memory.status == ACTIVE and memory.title.casefold() == name), None)
    if old is None:
        return Plan((new,), f"add skill {skill.name!r}")
    if trust(created(new)) >= trust(old):
        return _amending(old, entry)
    return plan_held(new, f"trusted less than the skill of this name: {old.id}", by, (old.id,))


def _entry(skill: SkillText, source: str, by: str, extra: Mapping[str, Value]) -> Entry:
    intent = "" if skill.intent == NO_INTENT else skill.intent  # the placeholder must not be searched
    said = {"intent": intent, "description": skill.description}
    return Entry(
        kind=KIND,
        title=skill.name,
        when=skill.when,
        tags=skill.tags,
        source=source,
        by=by,
        body=body_of(skill.text),
        extra={**extra, **{key: value for key, value in said.items() if value}},
    )


def _amending(old: Memory, entry: Entry) -> Plan:
    given = {"title": entry.title, "whenToUse": entry.when, "tags": entry.tags, "source": entry.source}
    extra = {"intent": "", "description": "", **entry.extra}
    named = tuple(key for key, value in given.items() if value)
    return plan_amend(old, replace(entry, kind="amend", given=named, extra=extra))


# Archiving


def plan_prune(skills: Sequence[Skill], threshold: float, by: str) -> Plan:
    """Plan to archive the active skills below a reliability. `rawkomem restore` brings one back."""
    if not 0 <= threshold <= 1:
        raise BadInput(f"{threshold:g} is no reliability", "give a number from 0 to 1, like 0.3")
    weak = [skill for skill in skills if skill.memory.status == ACTIVE and skill.reliability < threshold]
    below = f"is below {threshold:g}"
    archived = [archiving(one.memory, f"pruned: reliability {one.reliability:g} {below}", by) for one in weak]
    return Plan(tuple(archived), f"prune {len(archived)} skills")
