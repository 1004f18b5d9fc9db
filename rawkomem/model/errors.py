"""The errors that stop a command. Each says what failed and what to do next. Bad data in files is a
Problem instead (values.py).
"""

from __future__ import annotations

from collections.abc import Collection


class RawkoError(Exception):
    """Base of all errors: a one-line message, a hint, and the exit code of the command."""

    exit_code = 1

    def __init__(self, message: str, hint: str = ""):
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def in_full(self) -> str:
        """Return the message, followed by the hint in brackets if there is one."""
        return f"{self.message} ({self.hint})" if self.hint else self.message


class BadInput(RawkoError):
    """The caller passed a wrong option, name or value."""

    exit_code = 2


def check_known(what: str, name: object, known: Collection[str]) -> None:
    """Raise BadInput, which lists the known names, if a name is none of them."""
    if name not in known:
        raise BadInput(f"unknown {what} {name!r}", f"use one of {', '.join(known)}")


class NotFound(RawkoError):
    """There is no repository, memory or file with that name."""


class Busy(RawkoError):
    """Another process held the lock for longer than the timeout."""


class Refused(RawkoError):
    """The action would lose data or break a law of docs/architecture.md."""


class Unwritable(RawkoError):
    """A file could not be written: full disk, read-only folder, missing permission."""


class NewerFormat(RawkoError):
    """A newer rawkomem wrote the repository, so this one would misread it."""


class IndexBroken(RawkoError):
    """The index cannot be read and could not be rebuilt."""


class StoreAway(RawkoError):
    """The store outside the index's database failed: files, catalogue and words are used without it."""

    is_remembered = False  # whether it failed a moment ago and was not asked again


class WrittenUnseen(IndexBroken):
    """The entries were written to the files, but the index failed. The command succeeded, so it exits 0."""

    exit_code = 0

    def __init__(self, ids: tuple[str, ...], message: str, hint: str = ""):
        super().__init__(message, hint)
        self.ids = ids
