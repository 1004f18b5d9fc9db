"""Store drafts on this machine: lines in `.rawko/local/drafts.tsv`, the latest last.

    time, session, draft, id, JSON      a draft, or a newer version of it
    time, session, asked, id            the agent of this session was asked to write the draft
    time, session, kept|dropped, id     the draft was decided; the same words of this session make no new draft

Sessions are checksums, so that a prompt finds the lines of its own session without reading JSON.
"""

from __future__ import annotations

import json

from ...model.clock import DAY, now
from ...model.draft import Draft
from ...model.errors import NotFound, RawkoError
from ...model.record import as_dict, replace
from .private import LineFile, local_path
from .told import checksum, is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..layout import Layout

FILE_NAME = "drafts.tsv"
MAX_FILE_BYTES = 4 * 2**20  # some 4,000 drafts; the older half is dropped
MAX_CANDIDATES = 5  # drafts that an error lists for an ambiguous name
MAX_AGE_DAYS = 30  # after which a draft expires
DRAFT, ASKED, KEPT, DROPPED = "draft", "asked", "kept", "dropped"
TUPLES = ("when", "tags", "corrects", "again")


class Drafts:
    """Reads and writes the drafts of a repository."""

    def __init__(self, layout: Layout):
        self._layout = layout

    def all(self) -> list[Draft]:
        """Return the undecided drafts, latest first."""
        found, _ = _folded(self._lines())
        return sorted(found.values(), key=lambda draft: (-draft.at, draft.id))

    def of_session(self, session: str) -> list[Draft]:
        """Return the undecided drafts of a session, oldest first."""
        if not session:
            return []
        mark = f"\t{checksum(session)}\t"
        found, _ = _folded([line for line in self._lines() if mark in line])
        return sorted(found.values(), key=lambda draft: (draft.at, draft.id))

    def get(self, name: str) -> Draft:
        """Return a draft by its id, by the start or the end of its id, or by words of its title.

        Raise NotFound if no draft or more than one draft matches.
        """
        drafts = self.all()
        words = {*name.casefold().split()}
        rules: tuple[Callable[[Draft], bool], ...] = (
            lambda draft: draft.id == name,
            lambda draft: draft.id.startswith(name),
            lambda draft: draft.id.endswith(name),
            lambda draft: words <= {*draft.title.casefold().split()},
        )
        found = next((some for rule in rules if words and (some := [*filter(rule, drafts)])), [])
        if len(found) != 1:
            several = "; ".join(f"{draft.id} ({draft.title})" for draft in found[:MAX_CANDIDATES])
            wrong = f"{name!r} matches several drafts: {several}" if found else f"there is no draft {name!r}"
            raise NotFound(wrong, "run 'rawkomem drafts' for a list")
        return found[0]

    def decided(self) -> frozenset[str]:
        """Return the ids of drafts that were kept or dropped."""
        return _folded(self._lines())[1]

    def put(self, drafts: Iterable[Draft]) -> None:
        """Store new drafts, or newer versions of known ones."""
        import json  # only needed to write; prompts only read

        lines = ((draft, json.dumps(_fields(draft), ensure_ascii=False)) for draft in drafts)
        self._append(*((draft.session, DRAFT, draft.id, text) for draft, text in lines))

    def asked_at(self, session: str) -> int:
        """Return when the agent of a session was last asked to write a draft; 0 if never."""
        marks = f"\t{checksum(session)}\t{ASKED}\t"
        return max((_at(line) for line in self._lines() if marks in line), default=0)

    def forget(self, texts: Iterable[str]) -> None:
        """Remove every draft that shares text with purged texts."""
        gone = [" ".join(text.split()) for text in texts]
        lines = self._lines()
        kept = [line for line in lines if not _holds(_folded([line], 0)[0].values(), gone)]
        if len(kept) < len(lines):
            self._file().replace(*kept)

    def note_asked(self, draft: Draft) -> None:
        """Record that the agent was asked to write a draft."""
        self._append((draft.session, ASKED, draft.id))

    def decide(self, draft: Draft, what: str) -> None:
        """Record that a draft was KEPT or DROPPED."""
        self._append((draft.session, what, draft.id))

    def expire(self, before: int = 0) -> int:
        """Remove lines older than MAX_AGE_DAYS, or than `before`; return how many undecided drafts were removed."""
        lines, oldest = self._lines(), before or now() - MAX_AGE_DAYS * DAY
        kept = [line for line in lines if _at(line) >= oldest]
        gone = len(_folded(lines, 0)[0]) - len(_folded(kept, 0)[0])
        if len(kept) < len(lines):
            self._file().replace(*kept)
        return gone

    def _append(self, *records: tuple[str, ...]) -> None:
        if records:
            at = str(now())
            self._file().append(*("\t".join((at, checksum(session), *rest)) for session, *rest in records))

    def _file(self) -> LineFile:
        return LineFile(local_path(self._layout, FILE_NAME), MAX_FILE_BYTES)

    def _lines(self) -> list[str]:
        try:
            return self._file().lines()
        except RawkoError:
            return []


def draft_id(session: str, words: str) -> str:
    """Return the id of a draft; the same words in the same session always get the same id."""
    return "drf_" + checksum(session, " ".join(words.split())).partition("-")[0][:12]


def _folded(lines: Iterable[str], oldest: int = -1) -> tuple[dict[str, Draft], frozenset[str]]:
    """Return the undecided drafts by id, and the ids of decided ones; `oldest` = 0 includes expired drafts."""
    oldest = now() - MAX_AGE_DAYS * DAY if oldest < 0 else oldest
    found: dict[str, Draft] = {}
    decided: set[str] = set()
    for line in lines:
        at, _, what, id, *rest = (*line.split("\t", 4), "", "", "")[:5]
        if not is_number(at) or int(at) < oldest or not id:
            continue
        if what in (KEPT, DROPPED):
            decided.add(id)
            found.pop(id, None)
        elif what == ASKED and id in found:
            found[id] = replace(found[id], asked=int(at))
        elif what == DRAFT and id not in decided:
            draft = _draft(rest[0])
            if draft:
                found[id] = draft
    return found, frozenset(decided)


def _holds(drafts: Iterable[Draft], texts: Sequence[str]) -> bool:
    """Tell whether a line of a draft contains one of the texts, or is part of one."""
    for draft in drafts:
        words = [" ".join(part.split()) for one in _texts(draft) for part in one.split("\n")]
        if any(word and (word in text or text in word) for word in words for text in texts if text):
            return True
    return False


def _texts(draft: Draft) -> tuple[str, ...]:
    return (draft.said, draft.text, draft.title, draft.before, draft.task, *(value for _, value in draft.fields))


def _at(line: str) -> int:
    at = line.partition("\t")[0]
    return int(at) if is_number(at) else 0


def _fields(draft: Draft) -> dict[str, object]:
    """Return the non-empty fields as JSON values."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in as_dict(draft).items() if v}


def _draft(text: str) -> Draft | None:
    """Parse the JSON of a draft; return None if it is not one, for example because somebody edited the file."""
    try:
        given = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict) or not all(isinstance(given.get(key), str) for key in ("id", "kind")):
        return None
    fields = {name: given[name] for name in Draft.__annotations__ if name in given}
    for name, value in fields.items():
        if name == "fields":
            pairs = [pair for pair in value if isinstance(pair, list)] if isinstance(value, list) else []
            fields[name] = tuple((str(pair[0]), str(pair[1])) for pair in pairs if len(pair) == 2)
        elif name in TUPLES:
            fields[name] = tuple(str(part) for part in value) if isinstance(value, list) else ()
        elif name in ("at", "asked"):
            fields[name] = value if isinstance(value, int) else 0
        elif name == "score":
            fields[name] = float(value) if isinstance(value, int | float) else 0.0
        else:
            fields[name] = str(value)
    return Draft(**fields)
