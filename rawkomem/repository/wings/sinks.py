"""Sinks: where changes are sent besides the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...exchange.sinks.tell import sink_statuses
from ...exchange.sinks.webhook import Flushed, flush, open_client
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...exchange.sinks.tell import SinkStatus


class Sinks(Wing):
    """The sinks that the user's settings name."""

    def list(self) -> Sequence[SinkStatus]:
        """Return the state of each sink."""
        return sink_statuses(self._core.layout, self._core.settings.sinks)

    def flush(self, due_only: bool = False) -> Flushed:
        """Send what waits for the webhook, now and in this process."""
        webhook = self._core.settings.sinks.webhook
        if not webhook.url:
            return Flushed(0, 0, 0)
        return flush(self._core.layout, open_client(webhook), self._core.warn, due_only)
