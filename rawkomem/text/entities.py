"""Values that a text names, in one form: entities (`kind:slug`), also from the folders of a path, and
sums of money.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise

from ..model.entries import Memory, Value
from ..model.values import names_of_key, record
from .paths import paths_in

ENTITY_KINDS = ("project", "agent", "feature", "person", "business", "chore")
# Folders, the kind of entity that the name below them stands for, and a suffix for the name; in this order.
ENTITY_FOLDERS = (
    (("feature", "features"), "feature", ""),
    (("component", "components"), "feature", "-component"),
    (("packages", "apps", "services"), "project", ""),
    (("docs",), "feature", "-docs"),
    (("skill", "tool", "tools"), "agent", ""),
)
ENTITY_KEYS = names_of_key("entities")  # of the frontmatter
# A sign like a slash before a kind shows that it is part of a URL or of a longer name.
ENTITY = re.compile(rf"(?i)(?<![\w\-/.:@])({'|'.join(ENTITY_KINDS)}):([\w-]+)")
MAX_NAMED_ENTITIES = 8  # in a message


@record
class ResolvedEntity:
    """The entity that a name means. `slugs` is empty if the name is unknown or ambiguous; `message` says which."""

    slugs: tuple[str, ...]
    message: str = ""
    candidates: tuple[str, ...] = ()


def entities_in(text: str) -> tuple[str, ...]:
    """Return each `kind:slug` of a text once, in lower case and in order."""
    small = text.lower()
    if not any(f"{kind}:" in small for kind in ENTITY_KINDS):
        return ()  # much faster than the regex
    named = [(kind, slug.strip("-_")) for kind, slug in ENTITY.findall(text)]
    return tuple(
        dict.fromkeys(f"{kind}:{slug}".lower() for kind, slug in named if slug)
    )


def entities_in_path(path: str) -> tuple[str, ...]:
    """Return the entities that a path's folders stand for: `packages/mail/src` gives `project:mail`."""
    parts = path.lower().replace("\\", "/").split("/")
    entities = []
    for folders, kind, ending in ENTITY_FOLDERS:
        below = next(
            (name for folder, name in pairwise(parts) if folder in folders), ""
        )
        name = re.split(r"[^\w-]", below)[0].strip("-_")
        if name:
            entities.append(f"{kind}:{name}{ending}")
    return tuple(entities)


def entities_of(memory: Memory) -> tuple[str, ...]:
    """Return the entities in a memory's frontmatter, title, tags and body, and in the paths that it names."""
    named = [
        entity
        for key in ENTITY_KEYS
        for entity in _frontmatter_entities(memory.extra.get(key, []))
    ]
    text = "\n".join((memory.title, *memory.tags, memory.body))
    paths = [*_clear_paths(memory.source), *_clear_paths(memory.body)]
    from_paths = [entity for path in paths for entity in entities_in_path(path)]
    return tuple(dict.fromkeys([*named, *entities_in(text), *from_paths]))


def _frontmatter_entities(value: Value) -> Iterable[str]:
    """Yield the entities in the frontmatter, which are `kind:slug` texts or mappings with `type` and `slug`."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            item = f"{item.get('type', '')}:{item.get('slug', '')}"
        if isinstance(item, str):
            yield from entities_in(item) or [
                word for word in item.lower().split() if ":" not in word
            ]


def _clear_paths(text: str) -> Iterable[str]:
    """Yield the clear paths in a text: those of three parts or with a file name. `tools/list` may be something else."""
    if "/" not in text:
        return

    for path in paths_in(text):
        if "://" not in path and (
            path.count("/") > 1 or ("/" in path and "." in path.rsplit("/", 1)[1])
        ):
            yield path


def matching_entities(typed: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the entities that a typed name may mean: itself if it has a kind, else known ones of a similar name.

    Similar: the typed words are part of the name, also without spaces, or contain the whole name.
    """
    typed = typed.strip().lower()
    if ":" in typed:
        return (typed,)
    words = _plain_name(typed)
    names = {entity: _plain_name(entity.rpartition(":")[2]) for entity in known}
    named = [(entity, name) for entity, name in names.items() if name and words]
    exact = tuple(entity for entity, name in named if name == words)
    compact = words.replace(" ", "")
    return exact or tuple(
        entity
        for entity, name in named
        if compact in name.replace(" ", "") or f" {name} " in f" {words} "
    )


def _plain_name(text: str) -> str:
    """Return the words of a name, with single spaces."""
    plain = "".join(c if c.isalnum() else " " for c in text.lower())
    return " ".join(plain.split())


def resolve_entity(typed: str, known: Iterable[str]) -> ResolvedEntity:
    """Return the one entity that a person means, or a message that the name is unknown or ambiguous."""
    known = sorted(set(known))
    entities = matching_entities(typed, known)
    if len(entities) > 1:
        return ResolvedEntity(
            (), f"{typed!r} may be {_entity_listing(entities)}", entities
        )
    if entities and entities[0] in known:
        return ResolvedEntity(entities)
    there = f"there are {_entity_listing(known)}"
    there = there if known else "no memory names any entity yet"
    return ResolvedEntity(entities, f"no memory names the entity {typed!r}; {there}")


def _entity_listing(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED_ENTITIES
    listing = ", ".join(names[:MAX_NAMED_ENTITIES])
    return f"{listing} and {more} more" if more > 0 else listing


# Normalize sums of money: `$1,250.50`, `1250.5 USD` and `dollar1250.50` all become `USD 1250.5`.

# A line for each currency: its code, then its names in lower case.
CURRENCIES = """
    USD us$ $ dollar dollars buck bucks
    EUR € euro euros
    GBP £ pound pounds
    JPY ¥ yen
    INR ₹ rupee rupees
    CAD ca$ c$
    AUD au$ a$
    NZD nz$
    HKD hk$
    SGD s$
    BRL r$
    MXN mx$
    KRW ₩
    RUB ₽
    TRY ₺
    ILS ₪
    CNY\nCHF\nSEK\nNOK\nDKK\nPLN\nCZK\nHUF\nZAR\nTHB\nAED
"""
SUM_SCALES = {"k": 1_000, "m": 1_000_000, "bn": 1_000_000_000}
CURRENCY_NAMES = {
    name.lower(): names[0]
    for names in map(str.split, CURRENCIES.strip().split("\n"))
    for name in names
}
CURRENCY_PATTERN = "|".join(
    re.escape(name) for name in sorted(CURRENCY_NAMES, key=len, reverse=True)
)
SUM_PATTERN = re.compile(
    rf"(?P<minus>-)?\s*(?P<before>{CURRENCY_PATTERN})?\s*(?P<sign>-)?\s*"
    rf"(?P<number>\d[\d.,]*)\s*(?P<scale>bn|k|m)?\s*(?P<after>{CURRENCY_PATTERN})?",
    re.IGNORECASE,
)
# 1,250 and the Indian form 1,00,000
GROUPED_DIGITS = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}")


def normalize_currency(text: str) -> str:
    """Return one sum in one currency as `CODE number`; any other text, also a range, unchanged."""
    match = SUM_PATTERN.fullmatch(text.strip())
    if not match:
        return text
    names = {
        CURRENCY_NAMES[name.lower()]
        for name in (match["before"], match["after"])
        if name
    }
    number = _sum_number(match["number"])
    if len(names) != 1 or number is None:
        return text
    number *= SUM_SCALES.get((match["scale"] or "").lower(), 1)
    minus = "-" if match["minus"] or match["sign"] else ""
    return f"{names.pop()} {minus}{_plain_number(number)}"


def _sum_number(text: str) -> Decimal | None:
    """Return the value of digits with separators. If both `,` and `.` occur, the last one is the decimal point."""
    plain = text
    if "," in text and "." in text:
        last = max(text.rfind(","), text.rfind("."))
        plain = f"{text[:last].replace(',', '').replace('.', '')}.{text[last + 1 :]}"
    elif "," in text:
        if GROUPED_DIGITS.fullmatch(text):
            plain = text.replace(",", "")
        else:
            plain = text.replace(",", ".")
    return Decimal(plain) if re.fullmatch(r"\d+(?:\.\d+)?", plain) else None


def _plain_number(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
