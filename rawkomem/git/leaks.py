"""Secrets in files, for a hook that stops a commit: every line that holds one, never the secret itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..files.contents import read_bytes
from ..model.problem import Problem, error
from ..redaction.find import find_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence

HINT = "take it out and change it; `rawkomem scrub` shows the text without it"


def leaks_in(paths: Sequence[str], pii: bool = False) -> list[Problem]:
    """A Problem for each secret in these files, whatever their format; with `pii`, also for personal data."""
    return [problem for path in paths for problem in leaks_of(read_bytes(path).decode("utf-8", "replace"), path, pii)]


def leaks_of(text: str, path: str, pii: bool = False) -> list[Problem]:
    """The same for a text that a path will hold, such as a staged one."""
    return [
        error(code, f"{what}: {secret.rule}", HINT, secret.line, path=path)
        for secret in find_secrets(text, pii)
        for code, what in [("personal-data", "personal data") if secret.pii else ("secret", "a secret")]
    ]
