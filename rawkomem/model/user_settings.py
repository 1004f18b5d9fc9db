"""Settings that only the user's own config may set: where sinks send memories, and which language
model is used. Every command loads this file, so it imports no code of sinks and models.
"""

from __future__ import annotations

from .values import record

SINK_EVENTS = ("store", "supersede", "quarantine", "archive", "decay")
# set for `llm.command`, so that a hook of the command does not learn from our own prompt
LEARNING_GUARD = "RAWKOMEM_LEARNING"
ANSWER_TIMEOUT_S = 300.0  # a model on a CPU needs minutes for 16,000 characters


@record
class MarkdownSettings:
    """The log in Markdown, one file per day."""

    folder: str = ""  # empty: no log
    events: tuple[str, ...] = SINK_EVENTS


@record
class WebhookSettings:
    """The address that every event is posted to."""

    url: str = ""  # empty: no webhook
    events: tuple[str, ...] = SINK_EVENTS
    key_env: str = ""  # the NAME of the environment variable that holds the key
    # whether the origin of `url` may be this machine or its network, and use http
    allow_local: bool = False


@record
class SinkSettings:
    """All sinks of this user."""

    markdown: MarkdownSettings = MarkdownSettings()
    webhook: WebhookSettings = WebhookSettings()

    @property
    def any(self) -> bool:
        """Return whether any sink is configured."""
        return bool(self.markdown.folder or self.webhook.url)


@record
class LlmSettings:
    """An OpenAI-compatible endpoint, or a command that reads a prompt on stdin. No model if both are empty."""

    endpoint: str = ""  # base URL up to /v1
    model: str = ""
    key_env: str = ""  # the NAME of the environment variable that holds the key
    key: str = ""  # the key itself; set by a program, never read from a file
    max_tokens: int = 0  # of an answer; 0: the server's default
    command: str = ""  # for example `claude -p`
    timeout: float = ANSWER_TIMEOUT_S

    @property
    def any(self) -> bool:
        """Return whether a model is configured."""
        return bool(self.endpoint or self.command)
