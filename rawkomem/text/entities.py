"""Find entities in a text (`kind:slug`) and in the folders of a path. No regex, because searches import this module."""

from __future__ import annotations

from itertools import pairwise

from ..model.aliases import names_of
from ..model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..model.entry import Memory, Value

KINDS = ("project", "agent", "feature", "person", "business", "chore")
# Folders, the kind of entity that the name below them stands for, and a suffix for the name; in this order.
FOLDERS = (
    (("feature", "features"), "feature", ""),
    (("component", "components"), "feature", "-component"),
    (("packages", "apps", "services"), "project", ""),
    (("docs",), "feature", "-docs"),
    (("skill", "tool", "tools"), "agent", ""),
)
KEYS = names_of("entities")  # of the frontmatter
GLUE_SIGNS = ("_", "-", "/", ".", ":", "@")  # before a kind, they show that it is part of a URL or of a longer name
MAX_NAMED_ENTITIES = 8  # in a message


@record
class Resolved:
    """The entity that a name means. `slugs` is empty if the name is unknown or ambiguous; `message` says which."""

    slugs: tuple[str, ...]
    message: str = ""
    candidates: tuple[str, ...] = ()


def entities_in(text: str) -> tuple[str, ...]:
    """Return each `kind:slug` of a text once, in lower case and in order."""
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
    """Return the kind right before a colon, if it is a separate word; else empty."""
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
    """Return the entities that a path's folders stand for: `packages/mail/src` gives `project:mail`."""
    parts = path.lower().replace("\\", "/").split("/")
    found = []
    for folders, kind, ending in FOLDERS:
        below = next((name for folder, name in pairwise(parts) if folder in folders), "")
        name = _name_at(below, 0)
        if name:
            found.append(f"{kind}:{name}{ending}")
    return tuple(found)


def entities_of(memory: Memory) -> tuple[str, ...]:
    """Return the entities in a memory's frontmatter, title, tags and body, and in the paths that it names."""
    named = [entity for key in KEYS for entity in _listed(memory.extra.get(key, []))]
    text = "\n".join((memory.title, *memory.tags, memory.body))
    paths = [*_paths(memory.source), *_paths(memory.body)]
    from_paths = [entity for path in paths for entity in entities_in_path(path)]
    return tuple(dict.fromkeys([*named, *entities_in(text), *from_paths]))


def _listed(value: Value) -> Iterable[str]:
    """Yield the entities in the frontmatter, which are `kind:slug` texts or mappings with `type` and `slug`."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            item = f"{item.get('type', '')}:{item.get('slug', '')}"
        if isinstance(item, str):
            yield from entities_in(item) or [word for word in item.lower().split() if ":" not in word]


def _paths(text: str) -> Iterable[str]:
    """Yield the clear paths in a text: those of three parts or with a file name. `tools/list` may be something else."""
    if "/" not in text:
        return
    from .paths import mentioned

    for path in mentioned(text):
        if "://" not in path and (path.count("/") > 1 or ("/" in path and "." in path.rsplit("/", 1)[1])):
            yield path


def matching_entities(typed: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the entities that a typed name may mean: itself if it has a kind, else known ones of a similar name."""
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
    """Tell whether the typed words are part of the name, also without spaces, or contain the whole name."""
    whole = f" {' '.join(name)} "
    return bool(name) and (compact in "".join(name) or whole in f" {' '.join(typed)} ")


def resolve_entity(typed: str, known: Iterable[str]) -> Resolved:
    """Return the one entity that a person means, or a message that the name is unknown or ambiguous."""
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
