"""Write the line that a host shows to the person: memories added to the prompt, new drafts, slow calls."""

from __future__ import annotations

import os

from ...files.local.private import LineFile, local_path
from ...model.errors import RawkoError
from .calls import may_be_slow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout
    from ...recall.inject import Injection
    from ...repository.wings.learning import Learned
    from .slow import Called

NEWS_FILE = "hook.news"  # results of the background learner since the last prompt
MAX_NEWS_BYTES = 4 * 1024
MAX_TITLES = 3
MAX_TITLE_CHARS = 60


def notice_of(layout: Layout, injection: Injection | None = None) -> str:
    """Return the line for the person; empty if there is nothing to report. What it reports is not reported again."""
    said = [_injected(injection) if injection else "", *_take_news(layout), _slow(layout)]
    told = "; ".join(one for one in said if one)
    return f"rawkomem: {told}" if told else ""


def note_learned(layout: Layout, learned: Learned) -> None:
    """Save the results of the background learner for the next notice."""
    stored = [_title(one.entry.title) for one in learned.stored if one.written]
    lines = [f"stored {_list(stored)}"] if stored else []
    if learned.drafts:
        from ...text.count import count  # rarely needed

        lines.append(f"{count(len(learned.drafts), 'new draft')} ('rawkomem drafts')")
    try:
        if lines:
            LineFile(local_path(layout, NEWS_FILE), MAX_NEWS_BYTES).append(*lines)
    except RawkoError:
        pass  # `rawkomem drafts` still lists them


def _injected(injection: Injection) -> str:
    titles = [_title(item.memory.title) for item in injection.items]
    return f"added {_list(titles)}" if titles else ""


def _take_news(layout: Layout) -> list[str]:
    try:
        path = local_path(layout, NEWS_FILE)
        if not os.path.exists(path):
            return []
        lines = LineFile(path).lines()
        LineFile(path).replace()
    except RawkoError:
        return []
    return lines


def _slow(layout: Layout) -> str:
    if not may_be_slow(layout):
        return ""
    from .slow import untold_slow_calls  # rarely needed

    calls = untold_slow_calls(layout)
    return _slow_text(calls) if calls else ""


def _slow_text(calls: list[Called]) -> str:
    from ...text.count import count  # rarely needed

    events = ", ".join(dict.fromkeys(call.event for call in calls))
    said = f"{count(len(calls), 'earlier hook call')} took longer than {calls[-1].host} waits"
    return f"{said} ({events}): run 'rawkomem doctor'"


def _list(titles: list[str]) -> str:
    more = len(titles) - MAX_TITLES
    return ", ".join(f"“{title}”" for title in titles[:MAX_TITLES]) + (f" and {more} more" if more > 0 else "")


def _title(text: str) -> str:
    from ...text.clean import one_line  # imported here, because most notices have no title
    from ...text.safe import safe_title

    return one_line(safe_title(text), MAX_TITLE_CHARS)
