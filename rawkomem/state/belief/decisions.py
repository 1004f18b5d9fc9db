"""Decisions about memories: votes, doubts, quarantine, review, supersession, validity, archive. Each returns a Plan.

Every one of them is taken back by a later entry: a dispute by a reinforcement, a quarantine, an archive or a
supersession by a review, the end of a validity by another window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.clock import iso, read_moment
from ...model.entry import Entry, Plan
from ...model.errors import BadInput, Refused
from ...model.kinds import ACTIVE
from ..decide import check_by, check_window, plan_about
from ..facets import is_valid
from ..fold import DISPUTED, after
from ..references import KEPT_BOTH
from .claims import outweighs, superseding
from .conflicts import chain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.entry import Memory, Value
    from .claims import Trust
    from .conflicts import Find

SIGNALS = HELPFUL, HARMFUL = ("helpful", "harmful")
LEAST_TRUST = 0.3  # below it a dispute marks a memory as disputed (neolata)
ACTIONS = ACTIVATE, REJECT = ("activate", "reject")
BY_TRUST, SUPERSEDE, KEEP_BOTH = "", "supersede", "keep_both"  # how an activation settles a conflict
SETTLEMENTS = (BY_TRUST, SUPERSEDE, KEEP_BOTH)
OPEN_END = "none"  # written for the end of a window that is taken back
HIDDEN = ("superseded", DISPUTED, "archived")  # what `restore` brings back; quarantine ends with a review


def standing(memory: Memory, at: int) -> str:
    """Why a memory is not in use at a time, in words; empty when it is."""
    reason = f" ({memory.reason})" if memory.reason else ""
    if memory.status == "superseded":
        return f"superseded by {memory.superseded_by}{reason}"
    if memory.status == DISPUTED:
        return f"disputed {memory.disputes} times{reason}"
    if memory.status == "quarantined" and memory.conflicts_with:
        return f"quarantined{reason}: conflicts with {', '.join(memory.conflicts_with)}"
    if memory.status != ACTIVE:
        return f"{memory.status}{reason}"
    if is_valid(memory, at):
        return ""
    begins = at < memory.valid_from
    return f"valid from {iso(memory.valid_from)}" if begins else f"its validity ended {iso(memory.valid_until)}"


def plan_feedback(memory: Memory, signal: str, reason: str, by: str) -> Plan:
    """A vote: it helped, or it did harm."""
    if signal not in SIGNALS:
        raise BadInput(f"unknown feedback {signal!r}", "one of " + ", ".join(SIGNALS))
    return _plan(memory, "feedback", by, f"{signal}: {memory.id}", {"signal": signal, "reason": reason})


def plan_reinforce(memory: Memory, reason: str, by: str) -> Plan:
    """Somebody found it true again; that also clears a memory that disputes had marked."""
    return _plan(memory, "reinforce", by, f"reinforce {memory.id}", {"reason": reason})


def plan_dispute(memory: Memory, reason: str, by: str, trust: Trust) -> Plan:
    """Somebody doubts it. Whether that marks it is decided now, by its trust, and kept: the clock runs on."""
    plan = _plan(memory, "dispute", by, f"dispute {memory.id}", {"reason": reason})
    if memory.status != ACTIVE or trust(after(memory, plan.entries)) >= LEAST_TRUST:
        return plan
    outcome: dict[str, Value] = {"reason": reason, "outcome": DISPUTED}
    return _plan(memory, "dispute", by, f"dispute {memory.id}: its trust falls below {LEAST_TRUST:g}", outcome)


def plan_quarantine(memory: Memory, reason: str, by: str) -> Plan:
    """Hold a memory back until somebody reviews it."""
    if memory.status != ACTIVE:
        raise Refused(f"{memory.id} is {memory.status}: only active memories can be quarantined", "nothing to do")
    return _plan(memory, "quarantine", by, f"quarantine {memory.id}", {"reason": reason or "manual"})


def plan_review(
    memory: Memory, rivals: Sequence[Memory], action: str, settle: str, reason: str, by: str, trust: Trust
) -> Plan:
    """Let a memory out of quarantine, or put it away. `rivals`: what its claim contradicts, as far as it is in use.

    Activating supersedes them where trust allows it or the reviewer says so, or keeps both; else the conflict stays
    open, for everybody to see.
    """
    if action not in ACTIONS or settle not in SETTLEMENTS:
        raise BadInput(f"unknown review {action or settle!r}", "one of " + ", ".join(ACTIONS))
    if memory.status != "quarantined" and not (memory.status == ACTIVE and rivals):
        raise Refused(f"{memory.id} is {memory.status}: the memory is not quarantined", "nothing to review")
    if action == REJECT:
        return _plan(memory, "review", by, f"reject {memory.id}", {"action": REJECT, "reason": reason})
    return _plan_active(memory, rivals, settle, reason, by, trust)


def plan_restore(memory: Memory, rivals: Sequence[Memory], settle: str, reason: str, by: str, trust: Trust) -> Plan:
    """Bring a memory back that was archived, disputed or superseded; its conflicts are settled as in a review."""
    if memory.status not in HIDDEN:
        hint = {"quarantined": "use 'rawkomem review'", "deleted": "add it anew"}.get(memory.status, "nothing to do")
        raise Refused(f"{memory.id} is {memory.status}", hint)
    return _plan_active(memory, rivals, settle, reason, by, trust)


def _plan_active(memory: Memory, rivals: Sequence[Memory], settle: str, reason: str, by: str, trust: Trust) -> Plan:
    wins = settle == SUPERSEDE or (settle == BY_TRUST and outweighs(memory, rivals, trust))
    entries: list[Entry] = []
    if memory.status != ACTIVE:
        left: list[Value] = [] if wins or settle == KEEP_BOTH else [rival.id for rival in rivals]
        extra: dict[str, Value] = {"action": ACTIVATE, "reason": reason, "conflictsWith": left}
        entries += _plan(memory, "review", by, "", extra).entries
    if settle == KEEP_BOTH and rivals:
        ids: list[Value] = [rival.id for rival in rivals]
        link = Entry(kind="link", by=by, extra={"to": ids, "type": KEPT_BOTH})
        entries += plan_about(after(memory, entries), link, "").entries
    elif wins:
        why = reason or "activated in a review"
        entries += [entry for rival in rivals for entry in superseding(rival, memory.id, why, by).entries]
    if not entries:
        raise Refused(f"{memory.id} is trusted less than what it contradicts", "settle it: --supersede or --keep-both")
    return Plan(tuple(entries), f"activate {memory.id}")


def plan_supersede(
    old: Memory, new: Memory, find: Find, reason: str, by: str, trust: Trust, anyway: bool = False
) -> Plan:
    """Put one memory into the place of another. `anyway`: a person wants it although the new one is trusted less."""
    if any(memory.id == old.id for memory in chain(new.id, find)):
        raise Refused(f"{old.id} would supersede itself", "name the old memory first, then the new one")
    if new.status != ACTIVE:
        raise Refused(f"{new.id} is {new.status}", "a memory is superseded by one that is in use")
    if old.status in ("superseded", "deleted"):
        raise Refused(f"{old.id} is {old.status} already", "nothing to do")
    if not anyway and not outweighs(new, [old], trust):
        trusts = f"{trust(new):.2f} against {trust(old):.2f}"
        raise Refused(f"{new.id} is trusted less than {old.id}: {trusts}", "--anyway when a person decides so")
    return superseding(old, new.id, reason, by)


def plan_validity(memory: Memory, start: str, end: str, reason: str, by: str) -> Plan:
    """Set when a memory holds: dates, times or ages; empty leaves an end as it is, `none` opens it."""
    ends = {"validFrom": start, "validUntil": end}
    given: dict[str, Value] = {key: _moment(key, text) for key, text in ends.items() if text}
    if not given:
        raise BadInput("no window given", "give --from, --until or both")
    known = {"validFrom": iso(memory.valid_from), "validUntil": iso(memory.valid_until)}
    check_window({key: value for key, value in {**known, **given}.items() if value not in ("", OPEN_END)})
    return _plan(memory, "validity", by, f"validity of {memory.id}", {**given, "reason": reason}, tuple(given))


def _moment(key: str, text: str) -> str:
    if text == OPEN_END:
        return OPEN_END
    at = read_moment(text)
    if at is None:
        raise BadInput(f"{key} {text!r} names no time", "a date (2026-01-23), a time, an age (7d), or none")
    return iso(at)


def plan_archive(memory: Memory, reason: str, by: str) -> Plan:
    """Take a memory out of use; `restore` brings it back."""
    if memory.status in ("archived", "deleted"):
        raise Refused(f"{memory.id} is {memory.status} already", "nothing to do")
    return _plan(memory, "archive", by, f"archive {memory.id}", {"reason": reason})


def _plan(memory: Memory, kind: str, by: str, why: str, extra: dict[str, Value], given: tuple[str, ...] = ()) -> Plan:
    """One entry about a memory, with what is said; what is empty is left out."""
    if memory.status == "deleted":
        raise Refused(f"{memory.id} is deleted", "add it anew")
    check_by(by)
    said = {key: value for key, value in extra.items() if value}
    return plan_about(memory, Entry(kind=kind, by=by, extra=said, given=given), why)
