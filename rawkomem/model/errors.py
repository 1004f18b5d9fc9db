"""The few errors that stop a command. Each says what happened and what to do next; bad data is a Problem instead."""

from __future__ import annotations


class RawkoError(Exception):
    """Something the user must know: a one-line message, a hint, and the exit code of the command."""

    exit_code = 1

    def __init__(self, message: str, hint: str = ""):
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadInput(RawkoError):
    """The caller's words are off: a flag, a name, a value."""

    exit_code = 2


class NotFound(RawkoError):
    """No repository, memory or file of that name."""


class Busy(RawkoError):
    """Another process holds the lock longer than we are willing to wait."""


class Refused(RawkoError):
    """An action that would lose data or break a law."""


class Unwritable(RawkoError):
    """The file system said no: full disk, read-only folder, missing permission."""


class IndexBroken(RawkoError):
    """The index cannot be read and could not be rebuilt."""


class WrittenUnseen(IndexBroken):
    """What was asked for is in the files, only the index fails: the command did its work."""

    exit_code = 0

    def __init__(self, ids: tuple[str, ...], message: str, hint: str = ""):
        super().__init__(message, hint)
        self.ids = ids
