"""Define the verbs of the server. They are few and short, because every agent pays tokens for the list.

Each verb makes the same library call as the command of the same name; what it writes counts as an agent's word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...files.layout import PERSONAL
from ...format.compose import compose
from ...model.entry import Entry
from ...model.errors import BadInput, NotFound
from ...model.filters import FILTER_FIELDS
from ...model.kinds import IMPORTANCE
from ...model.record import record
from ...model.task import Task
from ...recall.filters import filter_of
from ...recall.inject import Injection
from ...recall.question import cut_note
from ...repository import Repository
from ...repository.doubts import SAME_TITLE, doubts_about
from ...state.changes.feedback import SIGNALS
from ...text.safe import safe_id
from .answers import (
    found_list,
    listed_drafts,
    what_was_amended,
    what_was_remembered,
    what_was_stored,
    whole_memory,
)

DEFAULT_AUTHOR = "agent"  # who found it out, where the client does not say its name
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
MAX_DRAFTS = 10  # of one list, the latest
MAX_RESULTS = 50  # of one search: a longer list is no answer
FILTERS = {  # the filters that agents are offered
    field.word: {**TEXT, "description": field.agents} for field in FILTER_FIELDS if field.agents
}


@record
class Caller:
    """The client's name, if given, and the session that uses are counted under."""

    name: str = DEFAULT_AUTHOR
    session: str = ""


@record
class Verb:
    """One tool: its description for the agent, its arguments as JSON Schema, and the function that it calls."""

    says: str
    takes: dict[str, Any]
    needs: tuple[str, ...]
    does: Callable[..., str]
    reads: bool = True  # no memory changes; that a use is counted, in a local file, is no reason to ask a person first
    again: bool = True  # a second call with the same words changes nothing more

    @property
    def schema(self) -> dict[str, Any]:
        """Return the arguments as JSON Schema."""
        needed = {"required": [*self.needs]} if self.needs else {}
        return {"type": "object", "properties": self.takes, **needed}


def recall(repository: Repository, caller: Caller, task: str) -> str:
    """Run `rawkomem inject` and count a use."""
    injection = repository.inject(Task(task, session=caller.session), form="xml")
    repository.note_use(injection, caller.session)
    repository.core.deepen_in_background()
    return _cut(task) + (_with_told(injection) or "Nothing relevant is remembered. 'search' looks further.")


def _cut(text: str) -> str:
    """Return a line that says how much of a long text was used; empty if all of it was."""
    said = cut_note([text])
    return f"{said}.\n" if said else ""


def _with_told(injection: Injection) -> str:
    """Return the text, and the ids of what fits but was given before: the host may have dropped it meanwhile."""
    told = [item.memory.id for item in injection.left_out if item.out and item.out.code == "told"]
    given = f"Given before in this session: {', '.join(map(safe_id, told))}. 'get' shows one again.\n" if told else ""
    return f"{injection.text}{given}"


def search(repository: Repository, caller: Caller, query: str, limit: int = 5, **which: str) -> str:
    """Run `rawkomem search`."""
    found = repository.search(query, min(max(limit, 1), MAX_RESULTS), filter_of(**which))
    if not found:
        return _cut(query) + "Nothing found."
    said = "" if any(item.fits for item in found) else "Nothing fits; the nearest are:\n"
    return _cut(query) + said + found_list(found, repository.layers.labels_of_found(found))


def get(repository: Repository, caller: Caller, id: str) -> str:
    """Run `rawkomem show`."""
    owner, own = repository.layers.owner(id)
    memory = owner.get(own)
    return whole_memory(memory, owner.beliefs.trust(memory), repository.layers.labels(owner, [memory])[memory.id])


def remember(
    repository: Repository, caller: Caller, text: str, amends: str = "", quote: str = "", reason: str = "", **flags: Any
) -> str:
    """Run `rawkomem add`, or `rawkomem amend` if a memory is named. The text is a body without frontmatter."""
    body = "\n\n".join(
        part for part in (text.strip("\n"), f"Reason: {reason.strip()}" if reason.strip() else "") if part
    )
    entry = compose(Entry(body=body), "amend" if amends else "memory", caller.name, **flags)
    if amends:
        owner, own = repository.layers.owner(amends)
        if quote:
            owner.remembering.check_quote(quote)
        _refuse(owner, entry, own)
        written = owner.amend(own, entry)
        return what_was_amended(written, owner.get(written.entry.about))
    _refuse(_project(repository), entry, says_so=bool(quote.strip()))
    if quote.strip():
        return what_was_remembered(_project(repository).remembering.remember(entry, quote, caller.name))
    _project(repository).remembering.refuse_planted(entry)
    return what_was_stored(_project(repository).add(entry))


def _refuse(repository: Repository, entry: Entry, about: str = "", says_so: bool = False) -> None:
    """Refuse an entry that should not be stored as it is; a person's word may have the title that it corrects."""
    for doubt in doubts_about(repository.core, entry, about):
        if doubt.code == SAME_TITLE and not says_so:
            hint = f"to change it, call 'remember' with amends: {doubt.concerns}; else give another title"
            raise BadInput(f"{doubt.message}: nothing was stored", hint)
        if doubt.code != SAME_TITLE:
            raise BadInput(f"{doubt.message}: nothing was stored", doubt.hint)


def brief(repository: Repository, caller: Caller, goal: str) -> str:
    """Run `rawkomem brief`."""
    return repository.traces.brief(goal).text or "Nothing is known about this goal yet."


def feedback(repository: Repository, caller: Caller, id: str, signal: str, reason: str = "") -> str:
    """Run `rawkomem feedback`."""
    owner, own = repository.layers.owner(id)
    vote = owner.feedback(own, signal, reason, caller.name).entry
    waits = vote.id in owner.get(vote.about).proposed
    return f"noted: {signal}, for {vote.about}" + (" (a person vouches for it and decides)" if waits else "")


def drafts(repository: Repository, caller: Caller, action: str = "list", id: str = "", **given: Any) -> str:
    """Run `rawkomem drafts` and its actions. What an agent keeps is a person's word only if the quote is found."""
    wing = _project(repository).drafts
    if action == "list":
        waiting = wing.all()
        older = f"{len(waiting) - MAX_DRAFTS} older drafts are not shown.\n" if len(waiting) > MAX_DRAFTS else ""
        return older + listed_drafts(waiting[:MAX_DRAFTS]) if waiting else "No drafts wait."
    if not id:
        raise BadInput(f"drafts: {action} needs an id", "'list' shows the ids")
    changes = {key: given[key] for key in ("title", "text", "when") if given.get(key)}
    if action == "keep":
        return what_was_stored(repository.remembering.keep_draft(id, caller.name, **changes))
    if action == "edit":
        return f"edited {safe_id(wing.edit(id, **changes).id)}"
    if action == "merge":
        return f"merged into {safe_id(wing.merge(id, str(given.get('other', ''))).id)}"
    return f"dropped {safe_id(wing.drop(id).id)}"


def _project(repository: Repository) -> Repository:
    """Return the repository; refuse to store an agent's words in the user's own where there is no project."""
    if repository.layers.all[0].name == PERSONAL:
        raise NotFound("there is no project here to store it in", "run 'rawkomem init' in the project")
    return repository


VERBS = {
    "recall": Verb("Project memories for a task. Call before non-trivial work.", {"task": TEXT}, ("task",), recall),
    "brief": Verb("How earlier work like it went.", {"goal": TEXT}, ("goal",), brief),
    "search": Verb("Find memories.", {"query": TEXT, "limit": {"type": "integer"}, **FILTERS}, ("query",), search),
    "get": Verb("One whole memory.", {"id": TEXT}, ("id",), get),
    "remember": Verb(
        "Store a decision, correction, finding or convention under a one-line title, with its reason. "
        "'quote': the person's own words that say so, verbatim; checked. "
        "'when': its tasks (words, a|b, a sentence). "
        "'amends': id of a memory whose title and text these replace.",
        {
            "title": TEXT,
            "text": TEXT,
            "reason": TEXT,
            "quote": TEXT,
            "when": TEXTS,
            "tags": TEXTS,
            "importance": {"enum": [*IMPORTANCE]},
            "amends": TEXT,
        },
        ("title", "text"),
        remember,
        reads=False,
        again=False,
    ),
    "feedback": Verb(
        "Vote on a memory.",
        {"id": TEXT, "signal": {"enum": [*SIGNALS]}, "reason": TEXT},
        ("id", "signal"),
        feedback,
        reads=False,
        again=False,
    ),
    "drafts": Verb(
        "What people said and nobody stored yet.",
        {
            "action": {"enum": ["list", "keep", "edit", "merge", "drop"]},
            "id": TEXT,
            "other": TEXT,
            "title": TEXT,
            "text": TEXT,
            "when": TEXTS,
        },
        (),
        drafts,
        reads=False,
        again=False,
    ),
}
