"""Finds transcripts in files and folders, and tells how old each is."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from ...model.errors import RawkoError
from .transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIXES = (".jsonl", ".json", ".md", ".markdown", ".txt", ".log")  # of transcripts in a folder
DATED_TURNS = 20  # that are looked at for a session's date


def transcripts_in(paths: Iterable[str]) -> list[str]:
    """Return the files among these paths and in their folders, those of the oldest sessions first, each once."""
    found = dict.fromkeys(os.path.abspath(file) for path in paths for file in _files(path))
    return sorted(found, key=began)


def began(path: str) -> int:
    """Return when a session began, in milliseconds since 1970: as its first turns say, else as its file does."""
    if not os.path.isfile(path):
        return 0  # a pipe can be read once only
    try:
        with open(path, "rb") as stream:
            turns = islice(Transcript(stream).turns(), DATED_TURNS)
            return next((turn.at for turn in turns if turn.at), 0) or int(os.stat(path).st_mtime * 1000)
    except (RawkoError, OSError):
        return 0


def _files(path: str) -> Iterator[str]:
    """Yield a file, or those of a folder and the folders below it that may be transcripts; hidden ones are left out."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, names, files in os.walk(path):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            file = os.path.join(folder, name)
            if name.endswith(SUFFIXES) and not name.startswith(".") and os.path.isfile(file):
                yield file
