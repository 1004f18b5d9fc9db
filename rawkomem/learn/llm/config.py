"""What the user's own config says about a language model. A repository's must not: it names hosts and commands."""

from __future__ import annotations

from ...model.record import record

GUARD = "RAWKOMEM_LEARNING"  # set for a command that we ask: whatever it starts must not learn from our own question
ANSWER_TIMEOUT_S = 300.0  # for one answer: a model on a CPU needs minutes for 16,000 characters


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
