"""Read memories in JSON: those of mem0, our own JSON Lines, and conversations of ChatGPT."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from ..format.entries import ENTRY_FIELD_KEYS, FORBIDDEN_KEYS, MAX_PATTERNS
from ..learn.drafts import choose_drafts, entry_of_draft
from ..learn.skills import CONDITION_LENGTH
from ..learn.transcripts import read_session
from ..learn.turns import Run
from ..model.entries import Entry, Value
from ..model.values import CREATES, IMPORTANCE, replace
from ..state.changes import ENDS, RELATED
from ..state.plans import TITLE_CHARS
from ..state.trust import IMPORTED
from ..text.clean import clean, one_line
from .imported_entries import entry_from, importance_of, past_time, texts_in
from .notes import OWN_ID
from .sources import GONE_THERE, Page, Source

Item = dict[str, Any]


# Read memories in JSON: those of mem0, and our own JSON Lines. For neolata see neolata/.

LIST_KEYS = ("results", "memories", "items", "data")  # keys of the list of memories in a document
OWN_FORMAT = "rawkomem/1"  # the format of each line of our JSON Lines
MAX_VALUE_DEPTH = 5  # levels of a value; a frontmatter may have eight in all
GONE_STATUSES = (
    "superseded",
    "archived",
    "deleted",
    "rejected",
)  # of memories that the other system no longer uses


def items_in(value: Any) -> list[Item]:
    """Return the memories of a document: from a list, from a list under a known key, or from one list per agent."""
    if isinstance(value, dict):
        inner = next(
            (value[name] for name in LIST_KEYS if isinstance(value.get(name), (list, dict))), None
        )
        if inner is None:
            inner = [item for part in value.values() if isinstance(part, list) for item in part]
        value = list(inner.values()) if isinstance(inner, dict) else inner
    return (
        [item for item in value if isinstance(item, dict) and item_text(item)]
        if isinstance(value, list)
        else []
    )


def is_mem0(source: Source) -> bool:
    """Tell whether a JSON file contains a list of memories with texts."""
    return source.path.endswith(".json") and bool(items_in(source.json()))


def is_own_export(source: Source) -> bool:
    """Tell whether a file is JSON Lines of `rawkomem export`."""
    return source.path.endswith(".jsonl") and OWN_FORMAT in next(source.lines(), "")


def read_mem0(source: Source) -> Iterator[Entry]:
    """Yield mem0's memories, with their tags, importance and author."""
    for item in items_in(source.json()):
        given = item.get("metadata")
        about: Item = given if isinstance(given, dict) else {}
        tags = texts_in(item.get("categories")) or texts_in(
            about.get("tags") or about.get("category")
        )
        importance = importance_of(about.get("importance"))
        by = str(item.get("agent_id") or "")
        yield item_entry(item, source.place(source.path), tags=tags, importance=importance, by=by)


def read_own_export(source: Source) -> Iterator[Entry]:
    """Yield the memories of our own JSON Lines with all their keys and their status; votes are not imported."""
    for number, line in enumerate(source.lines(), 1):
        try:
            item = json.loads(line)
        except ValueError:
            item = None
        if not isinstance(item, dict) or item.get("format") != OWN_FORMAT:
            source.skip(
                f"{source.place(source.path)}:{number}", "this line is not a memory of rawkomem"
            )
            continue
        yield _own_line_entry(source, item)


def _own_line_entry(source: Source, item: Item) -> Entry:
    page = Page(source.place(source.path), "", 0)
    id = str(item.get("id", ""))
    kind, importance = item.get("kind"), item.get("importance")
    told = item.get("state")
    state: Item = told if isinstance(told, dict) else {}
    made = entry_from(
        page,
        str(item.get("title", "")),
        str(item.get("body", "")),
        id,
        tags=texts_in(item.get("tags")),
        importance=importance if importance in IMPORTANCE else "medium",
        kind=kind if kind in CREATES else "memory",
        at=past_time(item.get("discoveredAt")),
        by=str(item.get("discoveredBy") or ""),
    )
    window = {key: one_line(str(state[key])) for key in ENDS if state.get(key)}
    status = state.get("status")
    held = as_values(item.get("extra"))
    named = held if isinstance(held, dict) else {}
    return replace(
        made,
        id=id if OWN_ID.fullmatch(id) else "",
        title=one_line(str(item.get("title") or made.title), TITLE_CHARS),
        when=tuple(
            one_line(condition, CONDITION_LENGTH) for condition in texts_in(item.get("whenToUse"))
        )[:MAX_PATTERNS],
        found_in=one_line(str(item.get("discoveredIn") or "")),
        source=one_line(str(item.get("source") or "")),
        related=tuple(
            one_line(name)
            for name in (*texts_in(item.get("relatedMemories")), *_related_ids(state))
        ),
        extra={
            **{key: value for key, value in named.items() if key not in (*ENTRY_FIELD_KEYS, *ENDS)},
            **window,
            **({GONE_THERE: str(status)} if status in GONE_STATUSES else {}),
            **made.extra,
        },
    )


def _related_ids(state: Item) -> Iterator[str]:
    """Yield the targets of `related` links; links of other types have no frontmatter key."""
    links = state.get("links")
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict) and link.get("type") == RELATED:
            yield str(link.get("to", ""))


def as_values(value: Any, depth: int = 0) -> Value:
    """Return a JSON value as texts, lists and mappings; null and values that are too deep become an empty text."""
    if isinstance(value, dict) and depth < MAX_VALUE_DEPTH:
        return {
            clean(str(key)): as_values(item, depth + 1)
            for key, item in value.items()
            if str(key) not in FORBIDDEN_KEYS
        }
    if isinstance(value, list) and depth < MAX_VALUE_DEPTH:
        return [as_values(item, depth + 1) for item in value]
    if isinstance(value, str):
        return clean(value)
    return "" if value is None or isinstance(value, (dict, list)) else json.dumps(value)


def item_text(item: Item) -> str:
    """Return the text of a memory of another program; empty if it has none."""
    return next(
        (item[key] for key in ("memory", "text", "content") if isinstance(item.get(key), str)), ""
    )


def item_entry(item: Item, place: str, title: object = "", **said: Any) -> Entry:
    """Return the entry of a memory of another program; `said` are further arguments of entry_from."""
    page = Page(place, "", past_time(item.get("created_at")) or past_time(item.get("updated_at")))
    text = item_text(item)
    return entry_from(
        page, str(title or text.partition("\n")[0]), text, str(item.get("id", "")), **said
    )


# Read an export of ChatGPT (`conversations.json`): what the person said or agreed to in each
# conversation.

CHATGPT_ROLES = ("user", "assistant")


def is_chatgpt(source: Source) -> bool:
    """Tell whether a JSON file is an export of ChatGPT."""
    value = source.json() if source.path.endswith(".json") else None
    return isinstance(value, list) and any(
        isinstance(item, dict) and "mapping" in item for item in value[:5]
    )


def read_chatgpt(source: Source) -> Iterator[Entry]:
    """Yield the drafts of every conversation as memories; like all imported memories, they wait for a review."""
    conversations = source.json()
    for conversation in conversations if isinstance(conversations, list) else [conversations]:
        if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
            source.skip(source.place(source.path), "this record is not a conversation")
            continue
        title = one_line(str(conversation.get("title") or "untitled"), 80)
        heard = read_session(_transcript(conversation), Run(agent="chatgpt", task=title))
        found = choose_drafts(heard.turns, heard.run)
        if not found:
            source.skip(title, "it contains no rule or correction to remember")
        for entry in map(entry_of_draft, found):
            extra = {**entry.extra, IMPORTED: f"{source.place(source.path)}#{title}"}
            yield replace(entry, source=f"ChatGPT: {title}", extra=extra)


def _transcript(conversation: Item) -> io.BytesIO:
    """Return a conversation as a chat transcript in the format that `rawkomem learn` reads."""
    said = [
        {
            "role": message["author"]["role"],
            "content": text,
            "timestamp": message.get("create_time"),
        }
        for message in _shown_messages(conversation)
        if (text := _message_text(message))
    ]
    return io.BytesIO(json.dumps({"messages": said}).encode())


def _shown_messages(conversation: Item) -> list[Item]:
    """Return the messages of the branch that was shown last, in order; skip older branches of edited questions."""
    nodes: dict[str, Any] = conversation["mapping"]
    found: list[Item] = []
    at, seen = conversation.get("current_node") or next(reversed(nodes), ""), set[str]()
    while isinstance(at, str) and isinstance(nodes.get(at), dict) and at not in seen:
        seen.add(at)
        message = nodes[at].get("message")
        author = message.get("author") if isinstance(message, dict) else None
        if isinstance(author, dict) and author.get("role") in CHATGPT_ROLES:
            found.append(message)
        at = nodes[at].get("parent")
    return found[::-1]


def _message_text(message: Item) -> str:
    content = message.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return (
        "\n".join(part for part in parts if isinstance(part, str)).strip()
        if isinstance(parts, list)
        else ""
    )
