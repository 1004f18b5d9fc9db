"""What the user's own config says about sinks. A repository's config must not: it would send memories elsewhere."""

from __future__ import annotations

from ...model.record import record

EVENTS = ("store", "supersede", "quarantine", "archive", "decay")


@record
class MarkdownSettings:
    """A log of one Markdown file a day."""

    folder: str = ""  # empty: no log
    events: tuple[str, ...] = EVENTS


@record
class WebhookSettings:
    """An address that every event is posted to."""

    url: str = ""  # empty: no webhook
    events: tuple[str, ...] = EVENTS
    key_env: str = ""  # the NAME of the environment variable that holds the key
    allow_local: bool = False  # the very origin of `url` may be this machine or its network, and http


@record
class SinkSettings:
    """All sinks of this user."""

    markdown: MarkdownSettings = MarkdownSettings()
    webhook: WebhookSettings = WebhookSettings()

    @property
    def any(self) -> bool:
        """Tell whether any sink is set up."""
        return bool(self.markdown.folder or self.webhook.url)
