"""The one error of language models."""

from __future__ import annotations

from ...model.errors import RawkoError


class LlmFailure(RawkoError):
    """A language model gave no usable answer. Callers continue without one."""
