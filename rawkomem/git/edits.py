"""Report manual edits of committed entries, and turn them into amendments: restore the old text, append the new."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..files.bundle import is_bundle
from ..files.read import decode, read_data
from ..format.pieces import cut
from ..format.split import append_holds, join
from ..model.entry import Entry, Memory, Plan
from ..model.errors import Refused
from ..model.problem import WARNING, Problem, error
from ..model.record import record, replace
from ..state.changes import REGISTRY
from ..state.changes.amend import AMENDABLE
from ..state.changes.delete import plan_delete
from ..state.compare import edit_in_words
from ..state.derive import DERIVED
from ..state.fold import fold
from ..state.references import HERITAGE, Names, references
from ..state.toward import entries_toward
from ..text.clean import one_line

KEEP_HINT = "to keep the old text as history, run: rawkomem check --staged --as-amendment"
BY_HAND = "edited by hand"
MAX_TITLE_CHARS = 80
MAX_DEPENDING = 5  # memories that a message names


@record
class Edit:
    """A committed entry that a commit changes, or removes if `new` is None."""

    old: Entry
    new: Entry | None = None


def as_problem(edit: Edit, depending: Sequence[tuple[str, str]], left: Sequence[str], allowed: bool) -> Problem:
    """Return the Problem of an edit: a warning if edits are `allowed`, else an error.

    For a removed memory, `depending` is (reference type, title) of memories that refer to it, `left` its change files.
    """
    problem = _removed(edit.old, depending, left) if edit.new is None else _edited(edit.old, edit.new)
    return replace(problem, level=WARNING) if allowed else problem


def _edited(old: Entry, new: Entry) -> Problem:
    message = f"{_name(old)} was edited: {edit_in_words(old, new)}"
    return error("entry-rewritten", message, KEEP_HINT, new.line, new.path)


def _removed(old: Entry, depending: Sequence[tuple[str, str]], left: Sequence[str]) -> Problem:
    said = f": it {REGISTRY[old.kind].tell(old)}" if old.changes else ""
    verbs = dict.fromkeys((DERIVED, HERITAGE), "was made from")
    told = [f"{title} {verbs.get(type, 'refers to')} it" for type, title in depending]
    more = f" and {len(told) - MAX_DEPENDING} more" if len(told) > MAX_DEPENDING else ""
    also = f"; {', '.join(told[:MAX_DEPENDING])}{more}" if told else ""
    also += f"; its changes are still in {', '.join(left)} ('git rm' removes them, too)" if left else ""
    return error("entry-gone", f"{_name(old)} was removed{said}{also}", KEEP_HINT, path=old.path)


def _name(old: Entry) -> str:
    return f"{one_line(old.title, MAX_TITLE_CHARS)!r} ({old.id})" if old.creates else f"{old.id}, about {old.about},"


def depending_on(old: Entry, memories: Iterable[Memory]) -> Iterator[tuple[str, str]]:
    """Yield (reference type, title and id) of the memories that refer to the memory of an entry, each once."""
    names = Names([Memory(id=old.id, path=old.path, title=old.title)])
    for memory in memories:
        types = [type for type, name in references(memory) if old.id in (name, *names.find(name))]
        if types and memory.id != old.id:
            best = next((type for type in types if type in (DERIVED, HERITAGE)), types[0])
            yield best, f"{one_line(memory.title, MAX_TITLE_CHARS)!r} ({memory.id})"


def restored(path: str, committed: bytes, staged: bytes | None) -> bytes:
    """Return the committed bytes of a file, plus the entries that only the staged version has.

    Raise Refused if that is not possible.
    """
    if is_bundle(path):
        raise Refused(f"{path} is a compressed month: its entries cannot be restored one by one", _undo_hint(path))
    if staged is None:
        return committed
    known = {entry.id for entry in read_data(committed, path, advice=False).entries}
    text, refused, odd = decode(staged)
    entries = read_data(staged, path, advice=False).entries
    unnamed = [entry for entry in entries if "id" not in entry.given]
    if refused or odd or (len(unnamed) > 1 and len(entries) != len(known)):
        raise Refused(f"the entries of {path} match no committed entries", f"give each an id, or {_undo_hint(path)}")
    _, pieces = cut(text, [entry.line for entry in entries])
    for entry, piece in zip(entries, pieces, strict=True):
        if entry.id not in known:
            committed = _appended(path, committed, piece.text + "\n")
    return committed


def _appended(path: str, data: bytes, entry: str) -> bytes:
    if not append_holds(decode(data)[0], entry):
        raise Refused(f"no entry can be appended to {path}", f"close its open code fence, or {_undo_hint(path)}")
    whole = data.decode("utf-8-sig")
    return data + join(whole, entry).encode()[len(whole.encode()) :]


def _undo_hint(path: str) -> str:
    return f"commit it as it is, or restore the committed file: git restore --staged --worktree {path}"


def plan_amendments(
    edits: Sequence[Edit], now: Callable[[str], Sequence[Entry]], wanted: Callable[[str], Sequence[Entry]], by: str
) -> Plan:
    """Return a Plan whose entries have the effect of the edits; raise Refused if that is not possible.

    `now` and `wanted` return the entries about a memory before and after the edits.
    """
    moved = [edit.old for edit in edits if edit.new is not None and edit.new.path != edit.old.path]
    if moved:
        raise Refused(f"{moved[0].id} was edited and moved to another file", "commit the move first, then the edit")
    entries: list[Entry] = []
    for id in dict.fromkeys(edit.old.target for edit in edits):
        before, after = fold(now(id)), fold(wanted(id))
        if before is None:
            continue
        if after is None:
            entries += plan_delete(before, "removed by hand", by).entries if before.status != "deleted" else ()
        else:
            _refuse_replaced([edit for edit in edits if edit.old.target == id], after)
            entries += entries_toward(before, after, BY_HAND, by)
    return Plan(tuple(entries), f"keep {len(edits)} edits as amendments")


def _refuse_replaced(edits: Sequence[Edit], after: Memory) -> None:
    """Raise Refused if a later entry replaces the edited text: an amendment with that text would change the memory."""
    for old, new in ((edit.old, edit.new) for edit in edits if edit.new is not None):
        if not (old.creates or old.kind == "amend"):
            continue
        fields = [field for field in (*AMENDABLE.values(), "body") if getattr(old, field) != getattr(new, field)]
        if any(getattr(after, field) != getattr(new, field) for field in fields):
            message = f"you edited words of {old.id} that a later entry replaces"
            raise Refused(message, f"edit that entry instead, or {_undo_hint(old.path)}")


def by_memory(files: Mapping[str, bytes]) -> dict[str, list[Entry]]:
    """Return memory id → its entries in some files."""
    found: dict[str, list[Entry]] = {}
    for path, data in files.items():
        for entry in read_data(data, path, advice=False).entries:
            found.setdefault(entry.target, []).append(entry)
    return found
