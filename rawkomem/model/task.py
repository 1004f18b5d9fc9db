"""Task: what an agent is about to do; the input of an injection."""

from __future__ import annotations

from .checked import checked_text, checked_texts
from .record import record


@record
class Task:
    """What is about to be done, and by whom."""

    __check__ = {
        **dict.fromkeys(("text", "agent", "plan", "session", "lately"), checked_text),
        "touched": checked_texts,
    }

    text: str
    agent: str = ""
    plan: str = ""
    session: str = ""
    lately: str = ""  # the exchange before the task: what the person asked, then the end of what the agent said
    touched: tuple[str, ...] = ()  # files that were read or changed before the task, the latest first

    @property
    def matched(self) -> str:
        """Return what conditions are matched against: SPEC-0009 adds the agent's name and the plan."""
        return " ".join(part for part in (self.text, self.agent, self.plan) if part)

    @property
    def asked(self) -> str:
        """Return what words and meaning are compared with."""
        return " ".join(part for part in (self.text, self.plan) if part)
