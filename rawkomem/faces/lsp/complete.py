"""Complete frontmatter keys, their fixed values, tags and ids of memories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from lsprotocol import types as lsp

from ...model.entry import Memory
from ...model.kinds import IMPORTANCE
from ...model.record import record
from ...state.belief.schema import frontmatter_keys
from ...state.keys import Key
from ...text.count import count
from .documents import Documents
from .places import KEY, Front, fronts, key_of
from .shelf import Shelf

TYPED_LINK = re.compile(r"\[\[([^\[\]|\n]*)$")
TYPED_VALUE = re.compile(r"""[^\s,\[\]"'{}][^,\[\]"'{}]*$""")
TAGS = "tags"
MAX_MEMORIES = 50  # in one answer; typing more letters narrows the list
MARKS = str.maketrans("-_", "  ")  # so that "mem-1" also finds mem_1 and "Mem 1"
ITEM_KINDS = {
    "enum": lsp.CompletionItemKind.EnumMember,
    "key": lsp.CompletionItemKind.Property,
    "tag": lsp.CompletionItemKind.Keyword,
    "memory": lsp.CompletionItemKind.Reference,
}


@record
class Choice:
    """One completion."""

    text: str
    says: str = ""  # its meaning, or the title of a memory
    start: int = 0  # the column where the replaced text starts
    found_by: str = ""  # text that the editor matches with the typed text; empty: `text`
    sort: str = "enum"  # a key of ITEM_KINDS: the icon that the editor shows
    snippet: str = ""  # the text with a cursor position, for editors that support it


def complete(documents: Documents, params: lsp.CompletionParams) -> lsp.CompletionList | None:
    """Return the completions at a position of the editor."""
    place = documents.place(params)
    if place is None:
        return None
    lines, line, column = place.document.lines, place.line, place.column
    found = choices(place.document.shelf, lines, line, column)
    memories = sum(choice.sort == "memory" for choice in found)
    snippets = documents.client.takes_snippets
    items = [
        lsp.CompletionItem(
            label=choice.text.removesuffix(": "), kind=ITEM_KINDS[choice.sort], detail=choice.says,
            filter_text=choice.found_by or choice.text, sort_text=f"{number:06}",
            insert_text_format=lsp.InsertTextFormat.Snippet if snippets and choice.snippet else None,
            text_edit=lsp.TextEdit(documents.range(lines, line, choice.start, column),
                                   choice.snippet if snippets and choice.snippet else choice.text),
        )
        for number, choice in enumerate(found)
    ]  # fmt: skip
    return lsp.CompletionList(is_incomplete=memories >= MAX_MEMORIES, items=items)


def choices(shelf: Shelf, lines: Sequence[str], line: int, column: int) -> list[Choice]:
    """Return the completions at a position of a memory file."""
    typed = lines[line][:column] if line < len(lines) else ""
    front = next((front for front in fronts(lines) if front.holds(line)), None)
    if front is None:
        link = TYPED_LINK.search(typed)
        return _memories(shelf, link.start(1), link[1]) if link else []
    head = KEY.match(typed)
    if not head and not typed.startswith((" ", "\t", "-")):
        return _keys(lines, front, line)
    key = key_of(lines, front, line)
    start = _start_of_value(typed, head.end() if head else 0)
    known = frontmatter_keys().get(key)
    if known and known.refers:
        return _memories(shelf, start, typed[start:])
    return _tags(shelf, start) if key == TAGS else _words(key, known, start)


def _keys(lines: Sequence[str], front: Front, line: int) -> list[Choice]:
    """Return the keys that the frontmatter does not use yet; a duplicate key would make it unreadable."""
    others = (lines[at] for at in range(front.first + 1, front.last) if at != line)
    used = {found[1] for found in map(KEY.match, others) if found}
    free = {key: known for key, known in frontmatter_keys().items() if key not in used}
    return [
        Choice(f"{key}: ", known.says, 0, key, "key", f"{key}: [$0]" if "anyOf" in known.values else "")
        for key, known in free.items()
    ]


def _start_of_value(typed: str, after: int) -> int:
    value = TYPED_VALUE.search(typed, after)
    text = value[0] if value else ""
    dash = len(text) - len(text.lstrip("- \t")) if not after else 0  # the "- " before a list item
    return len(typed) - len(text) + dash


def _words(key: str, known: Key | None, start: int) -> list[Choice]:
    """Return the allowed or usual values of a key."""
    if known is None:
        return []
    words: Sequence[str] = known.values.get("enum", known.values.get("examples", ()))
    words = IMPORTANCE if key == "importance" else words
    described = known.values.get("enumDescriptions", [known.says] * len(words))
    return [Choice(word, says, start) for word, says in zip(words, described, strict=True)]


def _tags(shelf: Shelf, start: int) -> list[Choice]:
    counts = Counter(tag for memory in shelf.offered() for tag in memory.tags)
    return [Choice(tag, count(number, "memory"), start, sort="tag") for tag, number in counts.most_common()]


def _memories(shelf: Shelf, start: int, typed: str) -> list[Choice]:
    """Return up to MAX_MEMORIES ids of memories whose id or title holds the typed text.

    Ids and titles that begin with the text come first; within a rank, the last changed come first.
    """
    phrase = typed.strip().casefold()
    words = phrase.split()
    plain = phrase.translate(MARKS)

    def rank(memory: Memory) -> int:
        text = f"{memory.id} {memory.title}".casefold()
        if plain in (marked := text.translate(MARKS)):
            return 0 if marked.startswith(plain) or memory.title.casefold().startswith(phrase) else 1
        return 2 if all(word in text for word in words) else -1

    ranked = [(rank(memory), -memory.updated, memory.id, memory.title) for memory in shelf.offered()]
    first = sorted(item for item in ranked if item[0] >= 0)[:MAX_MEMORIES]
    # Neovim drops completions whose filter text does not begin with the typed text, so it is put in front.
    return [Choice(id, title, start, f"{typed} {id} {title}".strip(), "memory") for _, _, id, title in first]
