"""What only the user's own config may say: where sinks send memories, and which language model is asked.

Every command reads settings, so this module imports nothing of sinks and models.
"""

from __future__ import annotations

from .record import record

EVENTS = ("store", "supersede", "quarantine", "archive", "decay")
GUARD = "RAWKOMEM_LEARNING"  # set for a command that we ask: whatever it starts must not learn from our own question
ANSWER_TIMEOUT_S = 300.0  # for one answer: a model on a CPU needs minutes for 16,000 characters


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


@record
class LlmSettings:
    """An OpenAI-compatible endpoint, or a command that reads a prompt on stdin. Neither: there is no model."""

    endpoint: str = ""  # as far as /v1
    model: str = ""
    key_env: str = ""  # the NAME of the environment variable that holds the key
    key: str = ""  # the key itself, from a program; never from a file
    max_tokens: int = 0  # of an answer; 0: as the server does
    command: str = ""  # for example `claude -p`
    timeout: float = ANSWER_TIMEOUT_S

    @property
    def any(self) -> bool:
        """Tell whether there is a model to ask."""
        return bool(self.endpoint or self.command)
