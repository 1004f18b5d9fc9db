"""Redacts or anonymizes a whole entry: its fields as leaves, `key: text`, and its body. A key such as
`password` makes its value a secret.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from ..model.entries import Entry, Value
from ..model.ids import hex_hash
from ..model.values import CHANGES, CREATES, record, replace
from ..text.clean import late_regex
from .assigned import rule_of_value
from .find import find_secrets, replaced

Leaf = tuple[str, str]


# Splits fields into leaves, `key: text`, and recognizes leaves without secrets before any rule is
# loaded.

# characters of a key that may itself be a secret or an address
MIN_SECRET_KEY_LENGTH = 12
# siblings of a `value` that name it
NAMING_KEYS = ("predicate", "name", "key", "variable")
# predicates with which the subject names the value
GENERIC_NAMES = ("is", "equals", "value", "set to", "has value")
# A heading in a place, as in "AGENTS.md#Never commit credentials", says nothing about the value of the next field.
PLACE_KEYS = ("importedFrom", "alsoIn")
NO_NEIGHBOR = "---"
_WORD = "[a-z]{1,16}"
_OWN_ID = rf"(?:{'|'.join([*(kind.prefix for kind in CREATES.values()), *CHANGES])})_(?:{_WORD}|[0-9]{{13}}_[0-9A-Za-z]{{6}})"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{3})?Z"
# Fields that no rule can match: an empty text, one word, an id that rawkomem made, or a time.
BARE_FIELD = late_regex(
    rf"(?:|title|discoveredIn|source)\n|(?:by|discoveredBy|kind|signal)\n{_WORD}|(?:id|about)\n{_OWN_ID}"
    rf"|(?:at|discoveredAt)\n{_TIME}"
)


def are_bare(leaves: Iterable[Leaf]) -> bool:
    """Return whether no field can hold a secret, as in a vote without a reason."""
    return all(BARE_FIELD.fullmatch(f"{key}\n{text}") for key, text in leaves)


def leaves_of(visit: Callable[[Callable[[str, str], str]], object]) -> list[Leaf]:
    """Call `visit` with a function; return each (key, text) that it passes to this function, in order."""
    leaves: list[Leaf] = []

    def note(key: str, text: str) -> str:
        leaves.append((key, text))
        return text

    visit(note)
    return leaves


def map_value(key: str, value: Value, change: Callable[[str, str], str]) -> Value:
    """Return the value with `change(path of keys, text)` for each of its texts."""
    if isinstance(value, str):
        return change(key, value)
    if isinstance(value, dict):
        return map_mapping(f"{key}.", value, change)
    return [map_value(key, item, change) for item in value]


def map_mapping(
    prefix: str, mapping: Mapping[str, Value], change: Callable[[str, str], str]
) -> dict[str, Value]:
    """Return the mapping with each text changed, and each key that is long enough to be a secret itself."""
    changed: dict[str, Value] = {}
    for key, value in mapping.items():
        kept = change("", key) if len(key) >= MIN_SECRET_KEY_LENGTH else key
        kept = f"{kept}_{len(changed)}" if kept in changed else kept
        changed[kept] = map_value(f"{prefix}{_name_of(key, mapping)}", value, change)
    return changed


def _name_of(key: str, mapping: Mapping[str, Value]) -> str:
    """Return the name of a value: its key, or the name in a sibling, as in `name: DB_PASS, value: …`."""
    if key != "value":
        return key
    names = [
        str(mapping[name]).strip()
        for name in NAMING_KEYS
        if isinstance(mapping.get(name), str)
    ]
    if names and names[0].lower() in GENERIC_NAMES:
        names = [str(mapping.get("subject", key))]
    return names[0] if names else key


@record
class FieldSecret:
    """A secret in one field: which leaf holds it, where in the leaf's text, and which rule found it."""

    leaf: int
    start: int
    end: int
    rule: str


def find_in_fields(leaves: Sequence[Leaf]) -> list[FieldSecret]:
    """Return every secret in the fields, in order. A leaf without a key, such as a body, is checked alone."""
    starts = []
    pieces = []
    at = 0
    secrets = []
    for number, (key, text) in enumerate(leaves):
        head = f"{key}: " if key else ""
        below = ""
        if key in PLACE_KEYS:
            head = f"{NO_NEIGHBOR}\n{head}"
            below = f"\n{NO_NEIGHBOR}"
        pieces.append(head + text + below)
        starts.append(at + len(head))
        at += len(pieces[-1]) + 1
        secrets += [FieldSecret(number, *span) for span in _told_by_key(key, text)]
    whole = {secret.leaf for secret in secrets}
    for hit in find_secrets("\n".join(pieces)):
        first = max(0, bisect_right(starts, hit.start) - 1)
        for number in range(first, bisect_right(starts, hit.end - 1)):
            start = max(0, hit.start - starts[number])
            end = min(hit.end - starts[number], len(leaves[number][1]))
            if number not in whole and start < end:
                secrets.append(FieldSecret(number, start, end, hit.rule))
    return sorted(secrets, key=lambda secret: (secret.leaf, secret.start))


def redact_fields(leaves: Sequence[Leaf]) -> list[str]:
    """Return the text of each leaf without secrets. An author's address becomes an id, so that authors stay distinct."""
    keys = [key for key, _ in leaves]
    texts = [text for _, text in leaves]
    # ends: each round leaves less text outside tags
    while secrets := find_in_fields(list(zip(keys, texts, strict=True))):
        for number, inside in groupby(secrets, key=attrgetter("leaf")):
            hits = [(secret.start, secret.end, secret.rule) for secret in inside]
            stand_in = user_id if keys[number] == AUTHOR_KEY else None
            texts[number] = replaced(texts[number], hits, stand_in)
    return texts


def _told_by_key(key: str, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the lines of a text that are secrets because of the text's key."""
    at = 0
    for line in text.split("\n") if key else ():
        value = line.strip()
        if value and (rule := rule_of_value(key, value)):
            start = at + line.index(value)
            yield start, start + len(value), rule
        at += len(line) + 1


AUTHOR_KEY = "discoveredBy"
# other entries refer to them
UNTOUCHED_KEYS = frozenset(("id", "about", "kind", "importance", "discoveredAt", "at"))


def redact_entry(entry: Entry) -> Entry:
    """Return the entry without secrets and personal data; set `leaks` if it had any.

    Its author becomes an id, so that authors stay distinct. A text is checked together with its key, as in a file:
    `db_password: …` holds a password. Call it before you derive anything from the texts of a new entry: a title that
    is cut, or words that are put into a condition, hide a part of a secret from every rule.
    """
    leaves = leaves_of(lambda note: with_texts(entry, note))
    clean = [text for _, text in leaves]
    if not are_bare(leaves):
        clean = redact_fields(leaves)
    texts = iter(clean)
    leaks = entry.leaks or clean != [text for _, text in leaves]
    return replace(with_texts(entry, lambda key, text: next(texts)), leaks=leaks)


def anonymize_entry(entry: Entry, people: Sequence[Person]) -> Entry:
    """Return the entry without names of people in frontmatter and body."""

    return with_texts(entry, lambda key, text: anonymize(text, people))


def with_texts(entry: Entry, change: Callable[[str, str], str]) -> Entry:
    """Return the entry with `change(key, text)` for each of its texts; ids stay, because other entries use them."""
    return replace(
        entry,
        title=change("title", entry.title),
        when=tuple(change("whenToUse", text) for text in entry.when),
        tags=tuple(change("tags", text) for text in entry.tags),
        by=change(AUTHOR_KEY, entry.by),
        found_in=change("discoveredIn", entry.found_in),
        source=change("source", entry.source),
        related=tuple(change("relatedMemories", text) for text in entry.related),
        extra=map_mapping("", entry.extra, change),
        body=change("", entry.body),
    )


# Replaces names of people with ids, and their home folders with `~`, in texts that are written
# without a review. A name has the same id on every machine. The id hides the name, but anybody
# who knows the name can compute the id.

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
# folders that are not a person's home
SHARED_FOLDERS = frozenset(("shared", "public", "default", "linuxbrew"))


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
    return f"user_{hex_hash(name.strip().lower(), ID_DIGITS)}"


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


def _without_home(folder: re.Match[str]) -> str:
    if folder[1].lower() in SHARED_FOLDERS:
        return folder[0]
    return "~/" if folder[0].endswith(("/", "\\")) else "~"
