"""Report written entries to the sinks. If a sink fails, the user gets a warning; the entries stay written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.errors import RawkoError
from ...model.record import record
from .checked import checked_folder, checked_webhook
from .daily_log import log_events
from .event import events_of
from .queue import Queue, wake_sender

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ...files.layout import Layout
    from ...model.entry import Entry
    from ...model.user_settings import SinkSettings
    from .event import Event


@record
class SinkStatus:
    """The status of one sink."""

    name: str
    where: str  # a folder, or only the host of an address, because the whole address may contain a key
    events: tuple[str, ...]
    waiting: int = 0
    dropped: int = 0
    problem: str = ""


def tell_sinks(
    layout: Layout, settings: SinkSettings, code: str, entries: Iterable[Entry], warn: Callable[[str], None]
) -> None:
    """Append entries to the daily log and to the webhook's queue; `code` is the code of their plan."""
    events = events_of(layout, code, entries)
    for name, tell in (("markdown", _log), ("webhook", _queue)):
        try:
            tell(layout, settings, events)
        except (RawkoError, OSError) as failure:
            warn(f"the memory is stored, but the {name} sink failed: {_one_line(failure)}")


def _log(layout: Layout, settings: SinkSettings, events: list[Event]) -> None:
    if settings.markdown.folder:
        folder = checked_folder(settings.markdown, layout)
        if wanted := [event for event in events if event.event in settings.markdown.events]:
            log_events(folder, wanted)


def _queue(layout: Layout, settings: SinkSettings, events: list[Event]) -> None:
    """Queue the events, then check the settings: a key that is missing now may be added later."""
    wanted = [event for event in events if event.event in settings.webhook.events]
    if settings.webhook.url and wanted:
        Queue(layout).add(wanted)
        checked_webhook(settings.webhook)
        wake_sender(layout)


def sink_statuses(layout: Layout, settings: SinkSettings) -> list[SinkStatus]:
    """Return the status of each sink that is set up."""
    found, log, webhook = [], settings.markdown, settings.webhook
    if log.folder:
        problem = _problem(lambda: checked_folder(log, layout))
        found.append(SinkStatus("markdown", log.folder, log.events, problem=problem))
    if webhook.url:
        queue = Queue(layout)
        waiting = queue.waiting()
        failure = next((item.failure for item in waiting if item.failure), "")
        problem = _problem(lambda: checked_webhook(webhook)) or failure
        host = webhook.url.partition("://")[2].partition("/")[0].rpartition("@")[2]
        found.append(SinkStatus("webhook", host, webhook.events, len(waiting), queue.dropped(), problem))
    return found


def _problem(check: Callable[[], object]) -> str:
    try:
        check()
    except RawkoError as failure:
        return _one_line(failure)
    return ""


def _one_line(failure: Exception) -> str:
    if isinstance(failure, RawkoError):
        return f"{failure.message} ({failure.hint})" if failure.hint else failure.message
    return str(failure)
