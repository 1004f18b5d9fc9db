"""Replaces names of people by ids and their home folders by `~`, in texts that no person sees before they are written.

A name has the same id on every machine. The id hides the name from readers, not from those who know the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

from ..model.record import record

ID_DIGITS = 6  # of an id: a project names few people
MIN_NAME_LETTERS = 3  # letters of a name: a shorter one is part of other words
# Accounts of machines and of nobody: `root cause` names no person.
ACCOUNTS = frozenset(
    """
    root user users admin administrator guest test tester testing agent developer dev build builder runner ubuntu debian
    fedora centos ec2-user vagrant docker node app jenkins git gitlab github circleci codespace vscode coder service
    daemon nobody system default public shared home local you your unknown
    """.split()  # noqa: SIM905 - a list of quoted words reads worse
)
SLASH = r"(?:\\{1,2}|/)"
HOME = re.compile(rf"(?:(?<![\w.~-])/(?:home|Users)/|\b[A-Za-z]:{SLASH}Users{SLASH})([\w.@-]+)(?:{SLASH}|(?![\w.@-]))")
SHARED_FOLDERS = frozenset(("shared", "public", "default", "linuxbrew"))  # folders that are nobody's home


@record
class Person:
    """Somebody with several names: the first makes the id, so it should be the one that other machines know."""

    names: tuple[str, ...]

    @property
    def id(self) -> str:
        """Return the id that stands for any of the names."""
        return user_id(self.names[0])


def user_id(name: str) -> str:
    """Return the id that stands for a name or an address: `user_3fa9c1`."""
    return f"user_{sha256(name.strip().lower().encode('utf-8', 'surrogatepass')).hexdigest()[:ID_DIGITS]}"


def person(names: Iterable[str]) -> Person | None:
    """Return somebody by these names, without those of machines and of nobody; None where none is left."""
    kept = tuple(dict.fromkeys(name.strip() for name in names if _telling(name.strip())))
    return Person(kept) if kept else None


def anonymize(text: str, people: Sequence[Person]) -> str:
    """Return the text with an id for every name, and `~` for home folders. Doing it twice changes nothing more."""
    text = HOME.sub(_home, text)
    ids = {name.lower(): somebody.id for somebody in people for name in somebody.names}
    if not any(name in text.lower() for name in ids):
        return text
    longest_first = sorted(ids, key=lambda name: (-len(name), name))
    names = "|".join(re.escape(name) for name in longest_first)
    whole = re.compile(rf"(?<![\w@.+-])(?:{names})(?![\w@]|[.+-]\w)", re.IGNORECASE)
    return whole.sub(lambda found: ids.get(found[0].lower(), found[0]), text)


def _telling(name: str) -> bool:
    return len(name) >= MIN_NAME_LETTERS and name.lower() not in ACCOUNTS


def _home(found: re.Match[str]) -> str:
    if found[1].lower() in SHARED_FOLDERS:
        return found[0]
    return "~/" if found[0].endswith(("/", "\\")) else "~"
