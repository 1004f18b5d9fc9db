"""Which runs a run depended on, and an order in which every run comes after what it needed. Cycles end the walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .run import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..model.entry import Memory

DEPENDS = ("depends_on", "dependencies", "dependsOn")
PARENT = ("parent", "parent_trace", "parentTraceId")


def dependency_chain(traces: Mapping[str, Memory], id: str) -> list[str]:
    """Return what a trace depended on, and what that did, each once, the nearest first."""
    chain: dict[str, None] = {}
    waiting = [id]
    for one in waiting:
        for other in listed(traces[one], DEPENDS) if one in traces else ():
            if other != id and other not in chain:
                chain[other] = None
                waiting.append(other)
    return list(chain)


def execution_order(traces: Iterable[Memory]) -> list[str]:
    """Return all traces by time, but none before its parent or what it depended on; of a cycle, the earliest first."""
    ordered = sorted(traces, key=lambda memory: (memory.created, memory.id))
    known = {memory.id: memory for memory in ordered}
    done: dict[str, None] = {}
    for memory in ordered:
        _visit(memory.id, known, done)
    return list(done)


def _visit(start: str, known: Mapping[str, Memory], done: dict[str, None]) -> None:
    """Visit a trace after what it needed, without recursion: a chain may be longer than Python's stack."""
    stack, entered = [start], {start}
    while stack:
        id = stack[-1]
        needed = (*listed(known[id], PARENT), *listed(known[id], DEPENDS))
        missing = next((other for other in needed if other in known and other not in done and other not in entered), "")
        if missing:
            entered.add(missing)
            stack.append(missing)
        else:
            done[stack.pop()] = None
