"""Clean up a session's turns: mark templates of commands, drop repeated turns, and match results with their calls."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from ...model.record import replace
from ...text.spoken.prompt import is_notice
from .turns import QUEUED, SYSTEM, USER, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .turns import Did

REPEAT_TURNS = 8  # the same words of a speaker within this many turns are one turn that the host wrote twice
TEMPLATE_MILLISECONDS = 2_000  # a turn this soon after a command is its template: nobody types that fast
COMMANDS = ("<command-name>", "<command-message>")  # how the record of a slash command begins
SKILL_TOOLS = ("Skill", "SlashCommand")  # after these tools, hosts record the text of the skill as a user turn
LOCAL_OUTPUT = "<local-command-"  # how the output after a command without a template begins


class Flow:
    """The state that is needed to interpret the next turn of a session."""

    def __init__(self) -> None:
        self._recent: deque[tuple[str, str]] = deque(maxlen=REPEAT_TURNS)
        self._queued: Counter[str] = Counter()  # a person's words that the host has not delivered yet
        self._command: Turn | None = None  # a slash command or a skill that was the last turn
        self._asked: set[int] = set()  # hashes of calls: some hosts write a message again when it grows longer
        self._calls: dict[str, tuple[str, str]] = {}  # call id → tool and command
        self._failed: dict[str, bool | None] = {}  # call id → whether the call failed

    def follow(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Yield each turn of a session once, with its corrected role."""
        for turn in turns:
            if turn.did:
                tool = self._tool(turn, turn.did)
                if tool:
                    yield tool
                continue
            turn = self._spoken(turn)
            if turn.text and not self._is_repeated(turn):
                yield turn

    def _spoken(self, turn: Turn) -> Turn:
        if turn.role == QUEUED:
            self._queued[turn.text.strip()] += 1
            return replace(turn, role=SYSTEM if is_notice(turn.text) else USER)
        if turn.role == USER and self._queued[turn.text.strip()] > 0:
            self._queued[turn.text.strip()] -= 1
            return replace(turn, text="")
        return self._addressed(turn)

    def _addressed(self, turn: Turn) -> Turn:
        """Return a turn with the role that follows from its text and from the turn before it."""
        before, self._command = self._command, None
        if turn.role != USER or not turn.text:
            self._command = None if turn.text else before
            return turn
        if turn.text.lstrip().startswith(COMMANDS):
            self._command = turn
            return turn
        if before and not turn.text.lstrip().startswith(LOCAL_OUTPUT):
            is_timed = before.at and turn.at
            if not is_timed or turn.at - before.at <= TEMPLATE_MILLISECONDS:
                self._command = before if is_timed else None
                return replace(turn, role=SYSTEM)
        return replace(turn, role=SYSTEM) if is_notice(turn.text) else turn

    def _tool(self, turn: Turn, did: Did) -> Turn | None:
        """Return a call, or a result with the tool and the command of its call; None if it was recorded before."""
        tool, command = self._calls.get(did.id, ("", "")) if did.id else ("", "")
        self._command = turn if (turn.tool or tool) in SKILL_TOOLS else None
        if not turn.text and did.failed is None:
            if did.id and hash(did) in self._asked:
                return None
            self._asked.add(hash(did))
            self._calls[did.id] = turn.tool, did.command
            return turn
        if did.id and did.id in self._failed and (did.failed is None or self._failed[did.id] is not None):
            return None
        self._failed[did.id] = did.failed
        return replace(turn, tool=turn.tool or tool, did=replace(did, command=did.command or command))

    def _is_repeated(self, turn: Turn) -> bool:
        said = turn.role, turn.text
        is_repeated = said in self._recent
        if not is_repeated:
            self._recent.append(said)
        return is_repeated
