"""Task: the work that an agent is about to do; the input of an injection."""

from __future__ import annotations

from .checked import checked_text, checked_texts
from .record import record


@record
class Task:
    """The work that an agent is about to do."""

    __check__ = {
        **dict.fromkeys(("text", "agent", "plan", "session", "lately"), checked_text),
        "touched": checked_texts,
    }

    text: str
    agent: str = ""
    plan: str = ""
    session: str = ""
    lately: str = ""  # the exchange before the task: the person's prompt, then the end of the agent's answer
    touched: tuple[str, ...] = ()  # files read or changed before the task, latest first

    @property
    def matched(self) -> str:
        """Return the text that conditions are matched against. SPEC-0009 adds the agent's name and the plan."""
        return " ".join(part for part in (self.text, self.agent, self.plan) if part)

    @property
    def asked(self) -> str:
        """Return the text for the search by words and by meaning."""
        return " ".join(part for part in (self.text, self.plan) if part)
