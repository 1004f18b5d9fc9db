"""Convert a foreign note to our keys: its fields, the date in its name, and the syntax in its text.

Obsidian: aliases, `#tags` and `#nested/tags`, `key:: value` of Dataview. Jekyll: a date in the name, categories.
pandoc: lists of authors, an abstract. Wikilinks and callouts stay in the text, because they work here, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from ...format.read_entries import KEYS
from ...learn.skills.text import in_fence
from ...model.aliases import NAMES, is_nothing
from ...model.kinds import IMPORTANCE
from ...text.prose import prose_lines
from ..conditions import from_description
from ..entry import a_name, importance_of, moment, texts
from ..instructions import GLOBS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ...model.entry import Value

TAGS = ("tags", "tag", "keywords", "categories")
TIMES = ("created", "date", "created_at", "createdAt", "discoveredAt", "timestamp")
AUTHORS = ("discoveredBy", "author", "authors")
READ = {*TAGS, *TIMES, *AUTHORS, *GLOBS, *NAMES["whenToUse"], "title", "whenToUse", "description", "importance", "name"}
WIKI_SIGNS = ("[[", "> [!")  # a text with these signs may contain inline tags
HASHTAG = re.compile(r"(?:^|(?<=[\s(]))#([^\W\d_][\w/-]*)")
DATAVIEW = re.compile(
    r"^(?:[-*] )?([A-Za-z][\w -]{0,40}?)::[ \t]+(\S.*)$|\[([A-Za-z][\w -]{0,40}?)::[ \t]+([^\]\n]+)\]"
)
DATED_NAME = re.compile(r"(\d{4}-\d\d-\d\d)-(.+)")
MAX_KEPT_CHARS = 20_000  # of all fields that stay in the frontmatter; longer ones are put below the text
LONG_FIELDS_HEADING = "## Other fields"
RENAMED = "original_{}"  # new name of a field whose name has another meaning here


def said(fields: Mapping[str, Value], body: str, stem: str) -> dict[str, Any]:
    """Return the arguments for entry_from from a note's fields and text."""
    fields = {**_dataview(body), **_by_our_case(fields)}
    given = _first(fields, "whenToUse", *NAMES["whenToUse"])
    globs = [glob for key in GLOBS for glob in texts(fields.get(key))]
    dated = DATED_NAME.fullmatch(stem)
    times = [moment(fields[key]) for key in TIMES if key in fields] + [moment(dated[1]) if dated else 0]
    at = next((at for at in times if at), 0)
    authors = [name for name in _authors(fields) if name]
    described = from_description(_text(fields.get("description")))
    unused = _without_effect(fields, at, bool(described and not given))
    return {
        "when": given or globs + described,
        "tags": [*_tags(fields), *_inline_tags(fields, body)],
        "importance": importance_of(fields.get("importance")),
        "at": at,
        "by": next((name for name in authors if a_name(name)), ""),
        "extra": {**kept(fields, unused), **({"authors": [*authors]} if len(authors) > 1 else {})},
    }


def _without_effect(fields: Mapping[str, Value], at: int, is_described: bool) -> list[str]:
    """Return the keys whose values were read but not used, so that the fields are kept."""
    lost = [key for key in TIMES if key in fields and (not at or moment(fields[key]) != at)]
    lost += [] if is_described else ["description"]
    lost += ["name"] if "title" in fields else []
    return lost if _text(fields.get("importance")).lower() in IMPORTANCE else [*lost, "importance"]


def name_of(stem: str) -> str:
    """Return the words of a file name, without Jekyll's date."""
    dated = DATED_NAME.fullmatch(stem)
    return (dated[2] if dated else stem).replace("_", " ").replace("-", " ")


def with_abstract(fields: Mapping[str, Value], body: str) -> str:
    """Return the text of a note with its abstract on top; pandoc stores the abstract as a field."""
    abstract = _text(fields.get("abstract")).strip()
    return body if not abstract or abstract in body else f"{abstract}\n\n{body}"


def kept(fields: Mapping[str, Value], also: Collection[str] = ()) -> dict[str, Value]:
    """Return the fields that are not read, and those in `also`; rename fields whose name has another meaning here."""
    found: dict[str, Value] = {}
    for key, value in fields.items():
        if (key not in READ or key in also) and not is_nothing(value) and value not in ([], {}):
            found[RENAMED.format(key) if key in KEYS and key != "source" else key] = value
    return found


def with_long_fields(extra: Mapping[str, Value], body: str) -> tuple[dict[str, Value], str]:
    """Return the fields that fit into a frontmatter, and the text with all other fields below it, as YAML."""
    chars = {key: len(str(value)) for key, value in extra.items()}
    long, total = set(), 0
    for key in sorted(chars, key=lambda key: chars[key]):
        total += chars[key]
        if total > MAX_KEPT_CHARS:
            long.add(key)
    if long:
        moved = {key: value for key, value in extra.items() if key in long}
        written = yaml.safe_dump(moved, allow_unicode=True, sort_keys=False, width=float("inf"))
        body = f"{body}\n\n{LONG_FIELDS_HEADING}\n\n{in_fence(written.rstrip(), 'yaml')}"
    return {key: value for key, value in extra.items() if key not in long}, body


def _by_our_case(fields: Mapping[str, Value]) -> dict[str, Value]:
    """Return the fields with known keys in our spelling: `Tags` becomes `tags`."""
    ours = {key.lower(): key for key in READ}
    return {ours.get(key.lower(), key): value for key, value in fields.items()}


def _dataview(body: str) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for line in prose_lines(body) if "::" in body else ():
        for key, value, inner, other in DATAVIEW.findall(line.strip()):
            found.setdefault((key or inner).strip(), (value or other).strip())
    return found


def _tags(fields: Mapping[str, Value]) -> list[str]:
    found = [tag for key in TAGS for tag in texts(fields.get(key))]
    words = [word for tag in found for word in (tag.split() if "#" in tag else [tag])]
    return [word.lstrip("#") for word in words]


def _inline_tags(fields: Mapping[str, Value], body: str) -> list[str]:
    if not any(sign in body for sign in WIKI_SIGNS) and "aliases" not in fields:
        return []  # in other Markdown, `#word` may be anything
    return [tag.rstrip("/-") for line in prose_lines(body) for tag in HASHTAG.findall(line)]


def _authors(fields: Mapping[str, Value]) -> list[str]:
    given = next((fields[key] for key in AUTHORS if fields.get(key)), "")
    listed = given if isinstance(given, list) else [given]
    return [_text(item.get("name")) if isinstance(item, dict) else _text(item) for item in listed]


def _first(fields: Mapping[str, Value], *keys: str) -> list[str]:
    return next((found for key in keys if (found := texts(fields.get(key)))), [])


def _text(value: Value | None) -> str:
    return value if isinstance(value, str) else ""
