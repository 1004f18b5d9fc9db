"""Finds the entities that `kind:slug` in a text and the folders of a path name. No regex: searches load this module."""

from __future__ import annotations

from itertools import pairwise

from ..model.aliases import names_of
from ..model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..model.entry import Memory, Value

KINDS = ("project", "agent", "feature", "person", "business", "chore")
# Folders → kind of the entity that the name below them stands for, and what is added to the name. In this order.
FOLDERS = (
    (("feature", "features"), "feature", ""),
    (("component", "components"), "feature", "-component"),
    (("packages", "apps", "services"), "project", ""),
    (("docs",), "feature", "-docs"),
    (("skill", "tool", "tools"), "agent", ""),
)
KEYS = names_of("entities")  # frontmatter
GLUE_SIGNS = ("_", "-", "/", ".", ":", "@")  # before a kind they make it part of something else: a URL, a longer name
MAX_NAMED_ENTITIES = 8  # candidates and known entities that a message lists


@record
class Resolved:
    """The entities that a name may mean; `slugs` is empty where the name is unknown or ambiguous: see `message`."""

    slugs: tuple[str, ...]
    message: str = ""
    candidates: tuple[str, ...] = ()


def entities_in(text: str) -> tuple[str, ...]:
    """Return every `kind:slug` of a text in lower case, in order, each once."""
    found: dict[str, None] = {}
    colon = text.find(":")
    while colon >= 0:
        kind = _kind_before(text, colon)
        name = _name_at(text, colon + 1) if kind else ""
        if name:
            found[f"{kind}:{name}"] = None
        colon = text.find(":", colon + 1)
    return tuple(found)


def _kind_before(text: str, colon: int) -> str:
    """Return the kind that ends right before a colon, as a word of its own."""
    for kind in KINDS:
        start = colon - len(kind)
        if start >= 0 and text[start:colon].lower() == kind:
            before = text[start - 1 : start]
            return "" if before.isalnum() or before in GLUE_SIGNS else kind
    return ""


def _name_at(text: str, start: int) -> str:
    end = start
    while end < len(text) and (text[end].isalnum() or text[end] in "-_"):
        end += 1
    return text[start:end].strip("-_").lower()


def entities_in_path(path: str) -> tuple[str, ...]:
    """Return the entities that a path's folders stand for: `packages/mail/src` is `project:mail`."""
    parts = path.lower().replace("\\", "/").split("/")
    found = []
    for folders, kind, ending in FOLDERS:
        below = next((name for folder, name in pairwise(parts) if folder in folders), "")
        name = _name_at(below, 0)
        if name:
            found.append(f"{kind}:{name}{ending}")
    return tuple(found)


def entities_of(memory: Memory) -> tuple[str, ...]:
    """Return the entities of a memory: from its frontmatter, title, tags and body, and from the paths it names."""
    named = [entity for key in KEYS for entity in _listed(memory.extra.get(key, []))]
    text = "\n".join((memory.title, *memory.tags, memory.body))
    paths = [*_paths(memory.source), *_paths(memory.body)]
    from_paths = [entity for path in paths for entity in entities_in_path(path)]
    return tuple(dict.fromkeys([*named, *entities_in(text), *from_paths]))


def _listed(value: Value) -> Iterable[str]:
    """Yield the entities that frontmatter lists as `kind:slug`, or as mappings with a type and a slug."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            item = f"{item.get('type', '')}:{item.get('slug', '')}"
        if isinstance(item, str):
            yield from entities_in(item) or [word for word in item.lower().split() if ":" not in word]


def _paths(text: str) -> Iterable[str]:
    """Yield the paths that a text names for sure: of three parts, or with a file name. `tools/list` may be anything."""
    if "/" not in text:
        return
    from .paths import mentioned

    for path in mentioned(text):
        if "://" not in path and (path.count("/") > 1 or ("/" in path and "." in path.rsplit("/", 1)[1])):
            yield path


def matching_entities(typed: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the entities that a typed name may mean: with a kind as it is, else those of that name or like it."""
    typed = typed.strip().lower()
    if ":" in typed:
        return (typed,)
    words, compact = _words(typed), "".join(_words(typed))
    names = {entity: _words(entity.rpartition(":")[2]) for entity in known}
    exact = tuple(entity for entity, name in names.items() if words and name == words)
    return exact or tuple(entity for entity, name in names.items() if compact and _fits(words, compact, name))


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


def _fits(typed: Sequence[str], compact: str, name: Sequence[str]) -> bool:
    """Tell whether the typed words are a part of the name, however joined, or hold the whole name."""
    whole = f" {' '.join(name)} "
    return bool(name) and (compact in "".join(name) or whole in f" {' '.join(typed)} ")


def resolve_entity(typed: str, known: Iterable[str]) -> Resolved:
    """Return the one entity that a person means, or a message: nobody of that name, or several to choose from."""
    known = sorted(set(known))
    found = matching_entities(typed, known)
    if len(found) > 1:
        return Resolved((), f"{typed!r} may be {_listing(found)}", found)
    if found and found[0] in known:
        return Resolved(found)
    told = f"there are {_listing(known)}" if known else "no memory names any entity yet"
    return Resolved(found, f"no memory names the entity {typed!r}; {told}")


def _listing(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED_ENTITIES} more" if len(names) > MAX_NAMED_ENTITIES else ""
    return ", ".join(names[:MAX_NAMED_ENTITIES]) + more
