"""Send the queued events to the webhook: each at least once, with the same key, with longer pauses
after failures.
"""

from __future__ import annotations

from collections.abc import Callable

from ..files.layout import Layout
from ..files.private import lock
from ..model.errors import Busy
from ..model.user_settings import WebhookSettings
from ..model.values import now, record, replace
from ..net.client import Bounds, Client
from ..net.guard import RequestFailed
from .sinks import Event, SinkQueue, WaitingEvent, checked_webhook

MINUTE_MS = 60_000
# pauses after failed attempts, about two days in all
PAUSES_MIN = (1, 5, 30, 120, 360, 720, 1440)
FINAL_STATUSES = (400, 413, 422)  # the server will never accept this event
MAX_FAILURES = 2  # in a row: one may be caused by the event, two by the server
# its answer is only shown in error messages
BOUNDS = Bounds(seconds=15.0, answer=64 * 1024)


@record
class Flushed:
    """The result of a run of the sender."""

    sent: int
    dropped: int
    waiting: int
    failure: str = ""  # the last failure


@record
class DeliveryFailure:
    """Why an event was not accepted; `final` if it never will be; `wait` is the server's Retry-After in seconds."""

    message: str
    final: bool = False
    wait: float = 0.0


def open_webhook(settings: WebhookSettings) -> Client:
    """Return the client for the webhook; raise a RawkoError if its settings are invalid."""
    policy, key = checked_webhook(settings)
    return Client(settings.url, policy, key, BOUNDS)


def send_queued(
    layout: Layout, client: Client, warn: Callable[[str], None], due_only: bool = False
) -> Flushed:
    """Send all waiting events, or with `due_only` those that are due; repeat for events that are added meanwhile.

    Raise Busy if another process is sending; with `due_only`, stop instead.
    """
    run = _Run(SinkQueue(layout), client, warn, due_only)
    sending = lock(layout, "sender")
    while run.todo():
        if not sending.acquire(0.0 if due_only else None):
            if due_only:
                break
            raise Busy(
                "another process is sending these events", "try again in a minute"
            )
        try:
            run.send()
        finally:
            sending.release()
    return Flushed(run.sent, run.dropped, len(run.queue.waiting()), run.failure)


class _Run:
    """One run of the sender: every event is tried once."""

    def __init__(
        self,
        queue: SinkQueue,
        client: Client,
        warn: Callable[[str], None],
        due_only: bool,
    ):
        self.queue, self.client, self.warn, self.due_only = (
            queue,
            client,
            warn,
            due_only,
        )
        # event key → its state; None: not waiting
        self.tried: dict[str, WaitingEvent | None] = {}
        self.sent = self.dropped = self.failed_in_a_row = 0
        self.failure = ""

    def todo(self) -> list[WaitingEvent]:
        """Return the events that this run has not tried yet; none after MAX_FAILURES in a row."""
        if self.failed_in_a_row >= MAX_FAILURES:
            return []
        return [item for item in self.queue.waiting()
                if item.event.key not in self.tried and not (self.due_only and item.again > now())]  # fmt: skip

    def send(self) -> None:
        """Try every event once; stop if the server seems to be down."""
        try:
            for waiting in self.todo():
                if self.failed_in_a_row < MAX_FAILURES:
                    failure = deliver_event(self.client, waiting.event)
                    after = self._failed(waiting, failure) if failure else None
                    self.tried[waiting.event.key] = after
                    self.sent += failure is None
                    self.failed_in_a_row = self.failed_in_a_row if failure else 0
        finally:
            self.queue.settle(self.tried)

    def _failed(
        self, waiting: WaitingEvent, failure: DeliveryFailure
    ) -> WaitingEvent | None:
        """Return the state of an event after a failed attempt; None if it is dropped."""
        self.failure = failure.message
        failed = replace(waiting, tries=waiting.tries + 1, failure=failure.message)
        if failure.final or failed.tries > len(PAUSES_MIN):
            self.queue.drop(failed)
            self.dropped += 1
            event = waiting.event
            self.warn(
                f"webhook: {event.event} of {event.memory} given up (try {failed.tries}): {failure.message}"
            )
            return None
        asked = min(int(failure.wait * 1000), PAUSES_MIN[-1] * MINUTE_MS)
        pause = max(PAUSES_MIN[failed.tries - 1] * MINUTE_MS, asked)
        self.failed_in_a_row += 1
        return replace(failed, again=now() + pause)


def deliver_event(client: Client, event: Event) -> DeliveryFailure | None:
    """Post one event; return None if the server accepted it, else the Failure."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": event.key}
    try:
        answer = client.post(event.to_json().encode(), headers)
    except RequestFailed as failure:
        return DeliveryFailure(failure.message)
    if 200 <= answer.status < 300:
        return None
    return DeliveryFailure(
        client.complaint(answer), answer.status in FINAL_STATUSES, answer.wait
    )
