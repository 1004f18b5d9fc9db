"""Sinks: a daily log and a webhook that receive changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...exchange.sinks.tell import sink_statuses
from ...exchange.sinks.webhook import Flushed, flush, open_client
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...exchange.sinks.tell import SinkStatus


class Sinks(Wing):
    """The sinks in the user's settings."""

    def list(self) -> Sequence[SinkStatus]:
        """Return the state of each sink."""
        return sink_statuses(self._core.layout, self._core.settings.sinks)

    def flush(self, due_only: bool = False) -> Flushed:
        """Send the queued events to the webhook, in this process; do nothing if no webhook is configured."""
        webhook = self._core.settings.sinks.webhook
        if not webhook.url:
            return Flushed(0, 0, 0)
        return flush(self._core.layout, open_client(webhook), self._core.warn, due_only)
