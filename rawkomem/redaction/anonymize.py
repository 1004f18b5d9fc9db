"""Replaces names of people with ids, and their home folders with `~`, in texts that are written
without a review.

A name has the same id on every machine. The id hides the name, but anybody who knows the name can
compute the id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

from ..model.values import record

ID_DIGITS = 6  # hex digits of an id: a project names few people
MIN_NAME_LETTERS = 3  # a shorter name is part of other words
# Accounts that are not people: `root cause` names no person.
ACCOUNTS = frozenset(
    """
    root user users admin administrator guest test tester testing agent developer dev build builder runner ubuntu debian
    fedora centos ec2-user vagrant docker node app jenkins git gitlab github circleci codespace vscode coder service
    daemon nobody system default public shared home local you your unknown
    """.split()  # noqa: SIM905 - a list of quoted words reads worse
)
SLASH = r"(?:\\{1,2}|/)"
HOME_FOLDER = re.compile(
    rf"(?:(?<![\w.~-])/(?:home|Users)/|\b[A-Za-z]:{SLASH}Users{SLASH})([\w.@-]+)(?:{SLASH}|(?![\w.@-]))"
)
SHARED_FOLDERS = frozenset(
    ("shared", "public", "default", "linuxbrew")
)  # folders that are not a person's home


@record
class Person:
    """A person with several names. The id is made from the first, so it should be the name that other machines know."""

    names: tuple[str, ...]

    @property
    def id(self) -> str:
        """Return the id that replaces any of the names."""
        return user_id(self.names[0])


def user_id(name: str) -> str:
    """Return the id that replaces a name or an address: `user_3fa9c1`."""
    return f"user_{sha256(name.strip().lower().encode('utf-8', 'surrogatepass')).hexdigest()[:ID_DIGITS]}"


def person(names: Iterable[str]) -> Person | None:
    """Return a person with these names, without short names and ACCOUNTS; None if no name is left."""
    long = [name.strip() for name in names if len(name.strip()) >= MIN_NAME_LETTERS]
    kept = tuple(dict.fromkeys(name for name in long if name.lower() not in ACCOUNTS))
    return Person(kept) if kept else None


def anonymize(text: str, people: Sequence[Person]) -> str:
    """Return the text with an id for every name, and `~` for home folders. A second call changes nothing."""
    text = HOME_FOLDER.sub(_without_home, text)
    ids = {name.lower(): somebody.id for somebody in people for name in somebody.names}
    if not any(name in text.lower() for name in ids):
        return text
    longest_first = sorted(ids, key=lambda name: (-len(name), name))
    names = "|".join(re.escape(name) for name in longest_first)
    whole = re.compile(rf"(?<![\w@.+-])(?:{names})(?![\w@]|[.+-]\w)", re.IGNORECASE)
    return whole.sub(lambda found: ids.get(found[0].lower(), found[0]), text)


def _without_home(found: re.Match[str]) -> str:
    if found[1].lower() in SHARED_FOLDERS:
        return found[0]
    return "~/" if found[0].endswith(("/", "\\")) else "~"
