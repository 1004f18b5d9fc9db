"""Read an export of ChatGPT (`conversations.json`): what the person said or agreed to in each conversation."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from ..learn.drafts.choose import choose
from ..learn.drafts.keep import entry_of
from ..learn.session.listen import listen
from ..learn.session.run import Run
from ..model.record import replace
from ..state.facets import IMPORTED
from ..text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.entry import Entry
    from .source import Source

    Item = dict[str, Any]

ROLES = ("user", "assistant")


def is_chatgpt(source: Source) -> bool:
    """Tell whether a JSON file is an export of ChatGPT."""
    value = source.json() if source.path.endswith(".json") else None
    return isinstance(value, list) and any(isinstance(item, dict) and "mapping" in item for item in value[:5])


def read_chatgpt(source: Source) -> Iterator[Entry]:
    """Yield the drafts of every conversation as memories; like all imported memories, they wait for a review."""
    conversations = source.json()
    for conversation in conversations if isinstance(conversations, list) else [conversations]:
        if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
            source.skip(source.place(source.path), "this record is not a conversation")
            continue
        title = one_line(str(conversation.get("title") or "untitled"), 80)
        heard = listen(_transcript(conversation), Run(agent="chatgpt", task=title))
        found = choose(heard.turns, heard.run)
        if not found:
            source.skip(title, "it contains no rule or correction to remember")
        for entry in map(entry_of, found):
            extra = {**entry.extra, IMPORTED: f"{source.place(source.path)}#{title}"}
            yield replace(entry, source=f"ChatGPT: {title}", extra=extra)


def _transcript(conversation: Item) -> io.BytesIO:
    """Return a conversation as a chat transcript in the format that `rawkomem learn` reads."""
    said = [
        {"role": message["author"]["role"], "content": text, "timestamp": message.get("create_time")}
        for message in _branch(conversation)
        if (text := _text(message))
    ]
    return io.BytesIO(json.dumps({"messages": said}).encode())


def _branch(conversation: Item) -> list[Item]:
    """Return the messages of the branch that was shown last, in order; skip older branches of edited questions."""
    nodes: dict[str, Any] = conversation["mapping"]
    found: list[Item] = []
    at, seen = conversation.get("current_node") or next(reversed(nodes), ""), set[str]()
    while isinstance(at, str) and isinstance(nodes.get(at), dict) and at not in seen:
        seen.add(at)
        message = nodes[at].get("message")
        author = message.get("author") if isinstance(message, dict) else None
        if isinstance(author, dict) and author.get("role") in ROLES:
            found.append(message)
        at = nodes[at].get("parent")
    return found[::-1]


def _text(message: Item) -> str:
    content = message.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return "\n".join(part for part in parts if isinstance(part, str)).strip() if isinstance(parts, list) else ""
