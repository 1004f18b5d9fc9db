"""Find transcripts in files and folders, and find out when each session began."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from ...model.errors import RawkoError
from .transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIXES = (".jsonl", ".json", ".md", ".markdown", ".txt", ".log")  # of files in a folder that are read
DATED_TURNS = 20  # first turns that are searched for a session's date


def transcripts_in(paths: Iterable[str]) -> list[str]:
    """Return each file among the paths and in their folders once, those of the oldest sessions first."""
    found = dict.fromkeys(os.path.abspath(file) for path in paths for file in _files(path))
    return sorted(found, key=began)


def began(path: str) -> int:
    """Return when a session began, in milliseconds since 1970, by its first turns or else by the file's time.

    0 if the path is not a regular file or cannot be read.
    """
    if not os.path.isfile(path):
        return 0  # a pipe can be read only once
    try:
        with open(path, "rb") as stream:
            turns = islice(Transcript(stream).turns(), DATED_TURNS)
            return next((turn.at for turn in turns if turn.at), 0) or int(os.stat(path).st_mtime * 1000)
    except (RawkoError, OSError):
        return 0


def _files(path: str) -> Iterator[str]:
    """Yield a file; of a folder, all files below it that may be transcripts and are not hidden."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, names, files in os.walk(path):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            file = os.path.join(folder, name)
            if name.endswith(SUFFIXES) and not name.startswith(".") and os.path.isfile(file):
                yield file
