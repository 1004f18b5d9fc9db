"""Read folders of Markdown: plain notes, Serena's memories, basic-memory's notes, Claude Code's auto
memory, our own files; and memories in JSON: those of mem0, and our own JSON Lines.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import frontmatter
import yaml
from frontmatter.default_handlers import BaseHandler

from ..files.check import by_memory
from ..files.reading import read_data
from ..format.entries import ENTRY_FIELD_KEYS, MAX_PATTERNS
from ..format.mesh_fields import json_object
from ..format.skill_files import CONDITION_LENGTH, FLAT_FIELD, in_fence
from ..model.entries import Entry, Memory, Value
from ..model.ids import slug
from ..model.values import (
    CREATES,
    IMPORTANCE,
    KEY_NAMES,
    filled,
    is_empty_value,
    record,
    replace,
    text_of,
    without,
)
from ..redaction.find import redact
from ..state.changes import ENDS, RELATED
from ..state.fold import fold
from ..state.plans import TITLE_CHARS
from ..state.trust import IMPORTED
from ..text.clean import one_line
from ..text.json_values import objects_in
from ..text.prose import prose_lines
from .imported_entries import (
    MAX_DEPTH,
    OWN_ID,
    TooMuch,
    as_values,
    conditions_from_description,
    entry_from,
    importance_of,
    line_of,
    list_of,
    past_time,
    split_by_size,
    texts_in,
    valid_name,
)
from .instructions import (
    GLOB_KEYS,
    count_words,
    cut_sections,
    heading_text,
    section_entries,
    strip_page,
    tidied_entries,
)
from .sources import GONE_THERE, Source, SourcePage

# Read the frontmatter of foreign notes.
#
# Values are only texts, lists and mappings. Size, depth and number of values are limited.

MAX_FRONT_CHARS = 64 * 1024
MAX_NODES = 2_000  # values of a frontmatter, with aliases expanded
# Some tools start YAML with `---yaml`, and pandoc ends it with `...`.
YAML_FRONT = re.compile(
    r"---(?:[ \t]*ya?ml)?[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE
)
EMPTY_FRONT = re.compile(r"\A---[ \t]*\n\s*---[ \t]*\n\n*")
# at the start; the first line of text may be indented code
BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")


@record
class Front:
    """The fields of a note, the text below them, and the error if the fields cannot be read."""

    fields: dict[str, Value]
    body: str
    problem: str = ""


class NoteHandler(BaseHandler):
    """Reads the frontmatter of a note for python-frontmatter, every scalar as text."""

    FM_BOUNDARY = YAML_FRONT

    def split(self, text: str) -> tuple[str, str]:
        """Return the frontmatter and the rest; raise ValueError if there is none."""
        found = YAML_FRONT.match(text, 0, MAX_FRONT_CHARS)
        if not found:
            raise ValueError
        return found[1], text[found.end() :]

    def load(self, fm: str) -> Any:
        """Return the values of a frontmatter; raise TooMuch if it exceeds a limit."""
        if fm.count("[") + fm.count("{") > MAX_NODES:
            raise TooMuch
        values = _yaml_values(fm)
        left = iter(range(MAX_NODES))
        return as_values(values, 0, left) if isinstance(values, dict) else values


def _yaml_values(head: str) -> Any:
    """Return the values of YAML; if it is not valid, those of its lines `key: value`: some write `globs: *.ts`."""
    try:
        return yaml.load(head, Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        flat = FLAT_FIELD.findall(head)
        if not flat:
            raise
        return {key: text.strip().strip("\"'") for key, text in flat}


def read_front(text: str) -> Front:
    """Return the fields of a note and its text; if the fields cannot be read, `problem` says why."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").lstrip("\n")
    text = EMPTY_FRONT.sub("", text)
    handler = NoteHandler()
    try:
        fields: Any = frontmatter.parse(text, handler=handler)[0]
    except TooMuch:
        most = f"{MAX_NODES:,} values or {MAX_DEPTH} levels"
        below = handler.split(text)[1].strip("\n")
        return Front({}, below, f"its frontmatter holds more than {most}")
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as failure:
        return Front({}, text, f"its frontmatter cannot be read: {str(failure)[:80]}")
    if not fields:
        return Front({}, text)
    return Front(fields, BLANK_LINES.sub("", handler.split(text)[1]).rstrip())


# Convert a foreign note to our keys: its fields, the date in its name, and the syntax in its text.
#
# Obsidian: aliases, `#tags` and `#nested/tags`. Jekyll: a date in the name, categories. pandoc: lists
# of authors, an abstract. Wikilinks and callouts stay in the text, because they work here, too.

TAG_KEYS = ("tags", "tag", "keywords", "categories")
TIME_KEYS = (
    "created", "date", "created_at", "createdAt", "discoveredAt", "timestamp", "modified",
)  # fmt: skip
AUTHOR_KEYS = ("discoveredBy", "author", "authors")
# These become parts of the memory; all other fields are kept.
READ_KEYS = {
    *TAG_KEYS,
    *AUTHOR_KEYS,
    *GLOB_KEYS,
    *KEY_NAMES["whenToUse"],
    "title",
    "whenToUse",
    "discoveredAt",
}
WIKI_SIGNS = ("[[", "> [!")  # a text with these signs may contain inline tags
HASHTAG = re.compile(r"(?:^|(?<=[\s(]))#([^\W\d_][\w/-]*)")
DATED_NAME = re.compile(r"(\d{4}-\d\d-\d\d)-(.+)")
# of all fields that stay in the frontmatter; longer ones are put below the text
MAX_KEPT_CHARS = 20_000
LONG_FIELDS_HEADING = "## Other fields"
RENAMED_FIELD = "original_{}"  # new name of a field whose name has another meaning here


def note_arguments(fields: Mapping[str, Value], body: str, stem: str) -> dict[str, Any]:
    """Return the arguments for entry_from from a note's fields and text."""
    ours = {
        key.lower(): key
        for key in (*READ_KEYS, *TIME_KEYS, "description", "importance")
    }
    fields = {ours.get(key.lower(), key): value for key, value in fields.items()}
    when = _texts_under(fields, ("whenToUse", *KEY_NAMES["whenToUse"]))
    if not when:
        when = _texts_under(fields, GLOB_KEYS)
        when += conditions_from_description(text_of(fields.get("description")))
    dated = DATED_NAME.fullmatch(stem)
    times = [*(fields.get(key) for key in TIME_KEYS), dated[1] if dated else ""]
    authors = [name for name in _author_names(fields) if name]
    tags = []
    for tag in _texts_under(fields, TAG_KEYS):
        tags += [word.lstrip("#") for word in tag.split()] if "#" in tag else [tag]
    kept = kept_fields(fields)
    if text_of(fields.get("importance")).lower() in IMPORTANCE:
        del kept[RENAMED_FIELD.format("importance")]
    if len(authors) > 1:
        kept["authors"] = [*authors]
    return {
        "when": when,
        "tags": [*tags, *_inline_tags(fields, body)],
        "importance": importance_of(fields.get("importance")),
        "at": next(filter(None, map(past_time, times)), 0),
        "by": next(filter(None, map(valid_name, authors)), ""),
        "extra": kept,
    }


def _texts_under(fields: Mapping[str, Value], keys: Iterable[str]) -> list[str]:
    return [text for key in keys for text in texts_in(fields.get(key))]


def name_words(stem: str) -> str:
    """Return the words of a file name, without Jekyll's date."""
    dated = DATED_NAME.fullmatch(stem)
    return (dated[2] if dated else stem).replace("_", " ").replace("-", " ")


def kept_fields(fields: Mapping[str, Value]) -> dict[str, Value]:
    """Return the fields that are not read; rename fields whose name has another meaning here."""
    empty = [key for key, value in fields.items() if is_empty_value(value)]
    source = ["source"] if text_of(fields.get("source")) else []
    return renamed_fields(without(fields, *READ_KEYS, *empty, *source))


def renamed_fields(fields: Mapping[str, Value]) -> dict[str, Value]:
    """Return the fields that are not empty; rename fields whose name has another meaning here."""
    return {
        RENAMED_FIELD.format(key) if key in ENTRY_FIELD_KEYS else key: value
        for key, value in filled(fields).items()
    }


def with_long_fields(
    extra: Mapping[str, Value], body: str
) -> tuple[dict[str, Value], str]:
    """Return the fields that fit into a frontmatter, and the text with all other fields below it, as YAML."""
    short, long = split_by_size(extra, MAX_KEPT_CHARS)
    if long:
        written = yaml.safe_dump(
            long, allow_unicode=True, sort_keys=False, width=float("inf")
        )
        body = (
            f"{body}\n\n{LONG_FIELDS_HEADING}\n\n{in_fence(written.rstrip(), 'yaml')}"
        )
    return short, body


def _inline_tags(fields: Mapping[str, Value], body: str) -> list[str]:
    if not any(sign in body for sign in WIKI_SIGNS) and "aliases" not in fields:
        return []  # in other Markdown, `#word` may be anything
    return [
        tag.rstrip("/-") for line in prose_lines(body) for tag in HASHTAG.findall(line)
    ]


def _author_names(fields: Mapping[str, Value]) -> list[str]:
    authors = next((fields[key] for key in AUTHOR_KEYS if fields.get(key)), "")
    listed = list_of(authors) or [authors]
    return [
        text_of(item.get("name")) if isinstance(item, dict) else text_of(item)
        for item in listed
    ]


# words of a memory (SPEC-0009); a longer note is split at its headings
MAX_NOTE_WORDS = 2_000
SKILL_STEM = "SKILL"  # the file of a skill; its frontmatter names it
RELATION = re.compile(r"^- [^\[\n]{1,60}? \[\[([^\]|#\n]{1,200})", re.MULTILINE)
# Keys of our own files; a title alone may come from any tool.
OWN_KEYS = {"id", "kind", "whenToUse", "discoveredAt", "discoveredBy", "importance"}


def is_serena(source: Source) -> bool:
    """Return whether a source is a file or folder in Serena's folder."""
    inside = ".serena" in source.path.replace(os.sep, "/").split("/")
    return inside and not source.path.endswith((".json", ".jsonl"))


def is_markdown(source: Source) -> bool:
    """Return whether a source is a folder or a text file."""
    return source.is_folder or source.path.endswith((".md", ".markdown", ".txt"))


def read_serena(source: Source) -> Iterator[Entry]:
    """Yield a memory for each file; the file names become titles, because Serena shows them to agents."""
    pages = source.pages(".md")
    yield from tidied_entries(
        [
            entry
            for page in pages
            for entry in _note_entries(page, source, name_words(page.stem))
        ]
    )


# Claude Code's auto memory: notes with `name`, `description` and a type, and MEMORY.md as their index.

MEMORY_INDEX = "MEMORY.md"
TEAM_MEMORY = ".qwen/team-memory"
CLAUDE_CATEGORIES = {
    "user": "preference",
    "feedback": "preference",
    "project": "fact",
    "reference": "fact",
}


def is_claude_memory(source: Source) -> bool:
    """Return whether a source is a folder with a MEMORY.md, as Claude Code writes it, or Qwen Code's."""
    is_team = source.path.replace(os.sep, "/").endswith(TEAM_MEMORY)
    return is_team or os.path.isfile(os.path.join(source.path, MEMORY_INDEX))


def read_claude_memory(source: Source) -> Iterator[Entry]:
    """Yield a memory for each note, and one for each section of the index that has text besides links."""
    notes: list[Entry] = []
    listed: list[Entry] = []
    for page in source.pages(".md"):
        if os.path.basename(page.place) == MEMORY_INDEX:
            lines = [
                line
                for line in page.text.split("\n")
                if not (line.lstrip().startswith("- [") and ".md)" in line)
            ]
            listed += section_entries(replace(page, text="\n".join(lines)), source.skip)
            continue
        fields = read_front(page.text).fields
        about = fields.get("metadata")
        type = (about if isinstance(about, dict) else fields).get("type")
        category = CLAUDE_CATEGORIES.get(text_of(type), "")
        title = text_of(fields.get("description")) or name_words(
            text_of(fields.get("name")) or page.stem
        )
        for note in _note_entries(page, source, title):
            extra = {**note.extra, "category": category} if category else note.extra
            notes.append(replace(note, extra=extra))
    yield from tidied_entries([*notes, *listed])


def read_markdown(source: Source) -> Iterator[Entry]:
    """Yield a memory for each note; files in our own format may hold several memories and keep their keys."""
    notes: list[Entry] = []
    for page in source.pages(".md"):
        own = _own_entries(page)
        yield from own
        notes += () if own else _note_entries(page, source, "")
    yield from tidied_entries(notes)


def _own_entries(page: SourcePage) -> list[Entry]:
    """Return the active memories of a file in our format, folded from its entries; empty for other files."""
    reading = read_data(page.text.encode(), f"memories/{page.stem}.md", advice=False)
    entries = [entry for entry in reading.entries if not entry.draft]
    is_own = any(OWN_KEYS & {*entry.given} for entry in entries)
    if len(entries) != len(reading.entries) or not is_own:
        return []
    folded = [
        memory
        for group in by_memory(entries).values()
        if (memory := fold(group)) and memory.status == "active"
    ]
    return [_own_file_entry(page, memory) for memory in folded]


def _front_of(page: SourcePage, source: Source) -> Front:
    front = read_front(page.text)
    if front.problem:
        source.skip(page.place, f"{front.problem}: only the text is imported")
    return front


def _own_file_entry(page: SourcePage, memory: Memory) -> Entry:
    extra = without(memory.extra, IMPORTED)
    named = extra.get("type")
    if memory.kind == "memory" and isinstance(named, str) and named in CREATES:
        memory = replace(memory, kind=named)
    if named == memory.kind:
        del extra["type"]
    at = memory.created or past_time(memory.extra.get("timestamp"))
    section = memory.id if "#" in memory.id else ""
    return own_entry(page, replace(memory, extra=extra, created=at), section)


def own_entry(page: SourcePage, memory: Memory, section: str) -> Entry:
    """Return a memory in our own format as an entry with all its keys, and with its id if it is one of ours."""
    id = memory.id if OWN_ID.fullmatch(memory.id) else ""
    entry = entry_from(
        page,
        memory.title,
        memory.body,
        section,
        memory.when,
        memory.tags,
        memory.importance,
        memory.kind,
        memory.created,
        memory.by,
    )
    return replace(
        entry,
        id=id,
        title=memory.title or entry.title,
        when=memory.when if id else entry.when,
        found_in=memory.found_in,
        source=memory.source,
        related=memory.related,
        extra={**entry.extra, **memory.extra},
    )


def _note_entries(page: SourcePage, source: Source, title: str) -> Iterator[Entry]:
    front = _front_of(page, source)
    fields = front.fields
    arguments = note_arguments(fields, front.body, page.stem)
    # pandoc stores it as a field
    abstract = text_of(fields.get("abstract")).strip()
    text = front.body if abstract in front.body else f"{abstract}\n\n{front.body}"
    body = strip_page(text).strip("\n")
    heading = heading_text(body.partition("\n")[0]) if body.startswith("#") else ""
    named = str(fields.get("title") or "") or (
        str(fields.get("name") or "") if page.stem == SKILL_STEM else ""
    )
    title = title or named or heading or name_words(page.stem)
    if not count_words(body):
        source.skip(page.place, "it has no text")
        return
    names = [to.strip().rpartition("/")[2] for to in RELATION.findall(body)]
    related = tuple(dict.fromkeys(map(slug, names)))
    arguments["extra"], whole = with_long_fields(arguments["extra"], body)
    parts = [(title, whole, "")]
    if len(body.split()) > MAX_NOTE_WORDS:
        parts = []
        for section in cut_sections(whole):
            own = section.title not in ("", title)
            name = f"{title}: {section.title}" if own else title
            parts.append((name, section.body, " / ".join(section.trail)))
    for part in parts:
        entry = entry_from(page, *part, **arguments)
        origin = redact(line_of(fields.get("source")))
        yield replace(entry, related=related, source=origin)


Item = dict[str, Any]


# keys of the list of memories in a document
LIST_KEYS = ("results", "memories", "items", "data")
# fields of mem0 that become parts of an entry, or that depend on a search or on the text
MEM0_READ = str.split("""
    id memory text content metadata categories category tags importance agent_id created_at updated_at score hash embedding
""")
OWN_FORMAT = "rawkomem/1"  # the format of each line of our JSON Lines
# Key of our JSON Lines → field of a memory.
JSON_TEXTS = {
    "id": "id",
    "kind": "kind",
    "title": "title",
    "importance": "importance",
    "discoveredBy": "by",
    "discoveredIn": "found_in",
    "source": "source",
    "body": "body",
}
JSON_LISTS = {"whenToUse": "when", "tags": "tags", "relatedMemories": "related"}
JSON_STATE = {
    "status": "status",
    "helpful": "helpful",
    "harmful": "harmful",
    "reinforcements": "reinforcements",
    "corroborations": "corroborations",
    "disputes": "disputes",
    "supersededBy": "superseded_by",
    "path": "path",
}
# of memories that the other system no longer uses
GONE_STATUSES = ("superseded", "archived", "deleted", "rejected")


def items_in(value: Any) -> list[Item]:
    """Return the memories of a document: from a list, from a list under a known key, or from one list per agent."""
    if isinstance(value, dict):
        named = [value.get(name) for name in LIST_KEYS]
        inner = next((part for part in named if isinstance(part, (list, dict))), None)
        if inner is None:
            inner = [item for part in value.values() for item in list_of(part)]
        value = list(inner.values()) if isinstance(inner, dict) else inner
    return [item for item in objects_in(value) if item_text(item)]


def is_mem0(source: Source) -> bool:
    """Return whether a JSON file contains a list of memories with texts."""
    return source.path.endswith(".json") and bool(items_in(source.json()))


def is_own_export(source: Source) -> bool:
    """Return whether a file is JSON Lines of `rawkomem export`."""
    return source.path.endswith(".jsonl") and OWN_FORMAT in next(source.lines(), "")


def read_mem0(source: Source) -> Iterator[Entry]:
    """Yield mem0's memories, with their tags, importance and author; other fields are kept in the frontmatter."""
    for item in items_in(source.json()):
        about = json_object(item.get("metadata"))
        tags = texts_in(item.get("categories")) or texts_in(
            about.get("tags") or about.get("category")
        )
        others = as_values({**without(about, *MEM0_READ), **without(item, *MEM0_READ)})
        assert isinstance(others, dict)
        extra, text = with_long_fields(renamed_fields(others), item_text(item))
        yield item_entry(
            {**item, "memory": text},
            source.place(source.path),
            tags=tags,
            importance=importance_of(about.get("importance")),
            by=text_of(item.get("agent_id")),
            extra=extra,
        )


def read_own_export(source: Source) -> Iterator[Entry]:
    """Yield the memories of our own JSON Lines with all their keys and their status; votes are not imported."""
    for number, line in enumerate(source.lines(), 1):
        try:
            item = json.loads(line)
        except ValueError:
            item = None
        if not isinstance(item, dict) or item.get("format") != OWN_FORMAT:
            source.skip(
                f"{source.place(source.path)}:{number}",
                "this line is not a memory of rawkomem",
            )
            continue
        yield _own_line_entry(source, item)


def _own_line_entry(source: Source, item: Item) -> Entry:
    texts = {field: str(item.get(key) or "") for key, field in JSON_TEXTS.items()}
    lists = {field: texts_in(item.get(key)) for key, field in JSON_LISTS.items()}
    state = json_object(item.get("state"))
    values = as_values(json_object(item.get("extra")))
    assert isinstance(values, dict)
    extra = without(values, *ENTRY_FIELD_KEYS, *ENDS, IMPORTED)
    extra |= {key: one_line(str(state[key])) for key in ENDS if state.get(key)}
    if state.get("status") in GONE_STATUSES:
        extra[GONE_THERE] = str(state["status"])
    for link in objects_in(state.get("links")):
        if link.get("type") == RELATED:  # other types have no frontmatter key
            lists["related"].append(str(link.get("to", "")))
    known = {"kind": CREATES, "importance": IMPORTANCE}
    usable: dict[str, Any] = {
        field: text if field == "body" else one_line(text, TITLE_CHARS)
        for field, text in texts.items()
        if text in known.get(field, (text,))
    }
    conditions = [one_line(text, CONDITION_LENGTH) for text in lists["when"]]
    memory = Memory(
        **usable,
        when=tuple(conditions[:MAX_PATTERNS]),
        tags=tuple(lists["tags"]),
        related=tuple(map(one_line, lists["related"])),
        created=past_time(item.get("discoveredAt")),
        extra=extra,
    )
    return own_entry(SourcePage(source.place(source.path), "", 0), memory, memory.id)


def item_text(item: Item) -> str:
    """Return the text of a memory of another program; empty if it has none."""
    named = (item.get(key) for key in ("memory", "text", "content"))
    return next((text for text in named if isinstance(text, str)), "")


def item_entry(item: Item, place: str, title: object = "", **arguments: Any) -> Entry:
    """Return the entry of a memory of another program; `arguments` are further arguments of entry_from."""
    page = SourcePage(
        place,
        "",
        past_time(item.get("created_at")) or past_time(item.get("updated_at")),
    )
    text = item_text(item)
    return entry_from(
        page,
        str(title or text.partition("\n")[0]),
        text,
        str(item.get("id", "")),
        **arguments,
    )
