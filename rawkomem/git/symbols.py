"""Find the text of a symbol in a source file with a table of definition patterns, without a parser.

A definition ends where indentation and brackets end. If it is not found, the whole file counts: too
much text causes a needless warning, too little hides an edit. The result is the same on every
machine. Citations hash this text, so changing these rules makes citations stale.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

Span = tuple[int, int]  # positions in the text, of whole lines

MAX_TEXT_LENGTH = 500_000  # characters; reading more would delay a prompt
MAX_DEFINITION_LENGTH = 100_000  # characters, about 2,500 lines
MAX_OCCURRENCES = 2_000  # of a name: more of them are data or minified code
# characters before a name on its line: a longer line is minified code
MAX_BEFORE_LENGTH = 1_000

# Languages by the suffix of the file name.
MARKDOWN = frozenset(("md", "markdown", "mdx"))
JAVASCRIPT = frozenset("js jsx ts tsx mjs cjs mts cts vue svelte".split())  # noqa: SIM905
BACKTICK = JAVASCRIPT | {"go"}  # strings between backticks may have several lines
C_LIKE = frozenset("c cc cpp cxx h hh hpp hxx m mm cu ino java cs".split())  # noqa: SIM905
# no word before a function
TYPED = C_LIKE | JAVASCRIPT | {"dart", "groovy", "sh", "bash", "zsh"}
HASH = frozenset(
    "py pyi rb sh bash zsh pl pm r ex exs yaml yml toml nim cr jl mk cmake tf hcl ini cfg conf ps1 gd".split()  # noqa: SIM905
)
DASHES = frozenset(("lua", "sql", "hs", "elm"))

# between a defining word and the name: `func (t *T) `, `fun <T> String.`, `void T::`
OWNER = (
    r"(?:\([^()]*\)[ \t]*|<[^()]*>[ \t]*|if not exists[ \t]+)?"
    r"[*&]*(?:[\w$<>\[\],]++(?:\.|::?)[ \t]*)*+$"
)
PARAMETERS = r"[ \t]*(?:<[^<>()]*>)?\((?:[^()]|\([^()]*\))*+\)"
NO_CONTROL = r"(?!.*(?<!\S)(?:if|while|for|switch|return|new|await|throw|case|else|elif|catch|with|in|and|or|not|do|yield)(?!\S))"
TYPE = r"[\w*&<>:,\[\]~ \t?@.]"
# A definition: languages (none: all), the line before the name, the text after it.
DEFINITIONS = tuple(
    (suffixes, re.compile(before, re.IGNORECASE), re.compile(after))
    for suffixes, before, after in (
        # a word that defines what follows
        (
            None,
            r"(?:^|.*[\s(])(?:def|defp|defmodule|defmacro|function\*?|func|fun|fn|sub|procedure|interface|trait|type"
            r"|typealias|typedef|module|mod|namespace|object|protocol|extension|record|data|newtype|package|actor"
            r"|message|service|rpc|table|view|macro|macro_rules!|#define|let|var|val|constant|local|my|our)[ \t]+"
            + OWNER,
            "",
        ),
        # a word that in C may also precede a type that is only used: `struct thing *next`
        (
            None,
            r"(?:^|.*[\s(])(?:class|struct|enum|union|const|static)[ \t]+" + OWNER,
            r"(?![ \t]*[*&]|[ \t]+(?!extends|implements|with|private|final|where|permits)\w)",
        ),
        (None, r"(?:.*\s)?impl(?:<.*>)?[ \t]+(?:.*\sfor[ \t]+)?[&*]*$", ""),
        # a variable, a key, a field
        (None, r"(?:export |self\.|[\"'])?$", r"[\"'?! ]*(?:=(?![=>])|:(?!:)|<-)"),
        # a function with only a type before its name
        (TYPED, NO_CONTROL + TYPE + "*$", PARAMETERS + r"[^(){};=\n]*\n?[ \t]*\{"),
        # a declaration; the members that C++ lists before the block of a constructor
        (C_LIKE, NO_CONTROL + TYPE + "+$", PARAMETERS + r"(?:[^(){}=\n]*;|\s*:(?!:))"),
    )
)
ATTRIBUTE = re.compile(r"@|#\[|\[\[|\[(?=[A-Z])")
# a C line above a name: a type or a template
UPPER_HALF = re.compile(r"(?!#|//|/?\*).*[^;{}:,)]")
# A line with the indent of a definition that belongs to it.
CONTINUES = re.compile(
    r"[]{}).,:=+|&?>]|- |(?:where|rescue|ensure|else|elsif|elif|except|catch|finally|end|fi|done|esac|then|do|begin|as"
    r"|is|extends|implements|throws|with)\b",
    re.IGNORECASE,
)
LINE = re.compile(r"^(?P<indent>[ \t]*)(?P<code>\S[^\n]*)", re.MULTILINE)
HEADING = re.compile(r"^(#+)([^\n]*)$", re.MULTILINE)
NOT_IN_ANCHOR = re.compile(r"[^\w -]")


class TooLong(Exception):
    """Raised if a search would take too long: hooks wait for it, and the file may be hostile."""


def symbol_text(text: str, symbol: str, path: str) -> str:
    """Return the lines of all definitions of a symbol, with decorators; empty if there are none. Raises TooLong.

    `Class.method` is searched inside `Class`, then among definitions of `method` that name `Class`.
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise TooLong
    suffix = path.rpartition(".")[2].lower()
    if suffix in MARKDOWN:
        return _section(text, symbol)
    parts = [part for part in symbol.replace("::", ".").split(".") if part]
    inside = [(0, len(text))]
    definitions: list[Span] = []
    code, bare = _without_texts(text, suffix)
    for part in parts:
        names = _definitions(code, bare, part, inside, suffix)
        definitions = [(_first_line(code, name, suffix), end) for name, end in names]
        inside = [(name + len(part), end) for name, end in names]
    if len(parts) > 1 and not definitions:
        everywhere = [(0, len(text))]
        for name, end in _definitions(code, bare, parts[-1], everywhere, suffix):
            if parts[-2] in code[code.rfind("\n", 0, name) + 1 : name]:
                definitions.append((_first_line(code, name, suffix), end))
    return "\n".join(text[start:end] for start, end in definitions)


@lru_cache(maxsize=8)
def _without_texts(text: str, suffix: str) -> tuple[str, str]:
    """Return a text without comments and strings of several lines, and one without all comments and strings.

    Both have blanks or quotes in their place, so that positions and the lines of code stay.
    """

    def fill(token: re.Match[str]) -> str:
        return (" " if token["comment"] else '"') * len(token[0])

    def fill_long(token: re.Match[str]) -> str:
        is_short = not token["comment"] and "\n" not in token[0]
        return token[0] if is_short else fill(token)

    tokens = _tokens(suffix)
    return tokens.sub(fill_long, text), tokens.sub(fill, text)


def mentions_symbol(text: str, symbol: str, path: str) -> bool:
    """Tell whether the last part of a symbol occurs as a word outside comments. Raises TooLong."""
    name = symbol.replace("::", ".").rpartition(".")[2]
    tokens = _tokens(path.rpartition(".")[2].lower())
    code = tokens.sub(lambda token: " " if token["comment"] else token[0], text)
    return any(_occurrences(code, name, (0, len(code))))


def _section(text: str, anchor: str) -> str:
    """Return the Markdown section with this anchor, up to the next heading of its level or above."""
    start, level = -1, 0
    for heading in HEADING.finditer(text):
        if start >= 0 and len(heading[1]) <= level:
            return text[start : heading.start() - 1]
        words = NOT_IN_ANCHOR.sub("", heading[2].strip("# ").lower())
        if start < 0 and words.replace(" ", "-") == anchor.lower():
            start, level = heading.start(), len(heading[1])
    return text[start:] if start >= 0 else ""


def _definitions(
    code: str, bare: str, name: str, inside: list[Span], suffix: str
) -> list[Span]:
    """Return the position of the name and the end of each of its least indented definitions in these spans."""
    places = [
        (at, end)
        for start, end in inside
        for at in _occurrences(code, name, (start, end))
        if _defines(code, at, at + len(name), suffix)
    ]
    least = min((_indent(code, at) for at, _ in places), default=0)
    definitions: list[Span] = []
    for at, limit in places:
        is_new = not definitions or at >= definitions[-1][1]
        if is_new and _indent(code, at) == least:
            definitions.append((at, _end(bare, at, least, limit, suffix)))
    return definitions


def _occurrences(text: str, name: str, span: Span) -> Iterator[int]:
    """Yield the positions of a name as a whole word in a span."""
    at = text.find(name, *span) if name else -1
    count = 0
    while at >= 0:
        count += 1
        if count > MAX_OCCURRENCES:
            raise TooLong
        around = text[at - 1 : at] + text[at + len(name) : at + len(name) + 1]
        if not any(c.isalnum() or c in "_$" for c in around):
            yield at
        at = text.find(name, at + 1, span[1])


def _defines(text: str, start: int, end: int, suffix: str) -> bool:
    """Tell whether the name at this place is defined there."""
    line = text.rfind("\n", max(0, start - MAX_BEFORE_LENGTH), start) + 1
    before = text[line:start].lstrip()
    if start - line > MAX_BEFORE_LENGTH:
        return False
    for suffixes, upto, after in DEFINITIONS:
        if (
            (suffixes is None or suffix in suffixes)
            and upto.match(before)
            and after.match(text, end)
        ):
            return True
    return False


def _first_line(text: str, at: int, suffix: str) -> int:
    """Return the start of the line of a definition, or of the decorators and attributes above it."""
    own = _indent(text, at)
    start = first = text.rfind("\n", 0, at) + 1
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        bare = text[above : start - 1].strip()
        indent = _indent(text, above)
        is_type = start == first and suffix in C_LIKE and UPPER_HALF.fullmatch(bare)
        if indent == own and bare and (ATTRIBUTE.match(bare) or is_type):
            first = above
        elif bare and (indent < own or (indent == own and bare[0] not in "})]>")):
            break
        start = above
    return first


def _end(bare: str, at: int, own: int, limit: int, suffix: str) -> int:
    """Return the end of the last line of the definition of the name at this place. Raises TooLong.

    `own` is its indentation. In SQL it ends with a semicolon.
    """
    start, end, depth = bare.rfind("\n", 0, at) + 1, at, 0
    for line in LINE.finditer(bare, start, limit):
        if line.end() - at > MAX_DEFINITION_LENGTH:
            raise TooLong
        indent = len(line["indent"])
        belongs = indent > own or (indent == own and CONTINUES.match(line["code"]))
        if end > at and depth == 0 and not belongs and suffix != "sql":
            break
        end = line.end()
        opened = sum(map(line["code"].count, "([{"))
        depth = max(0, depth + opened - sum(map(line["code"].count, ")]}")))
        if suffix == "sql" and depth == 0 and ";" in line["code"]:
            break
    return end


def _indent(text: str, at: int) -> int:
    """Return the indentation of the line around a place."""
    line = text.rfind("\n", 0, at) + 1
    end = line
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    return end - line


@cache
def _tokens(suffix: str) -> re.Pattern[str]:
    """Return the pattern of a language's comments and strings."""
    strings = []
    comment = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)"
    if suffix in HASH:
        comment = r"(?<![^\s;)\]}])#[^\n]*"
        strings.append(
            r"<<[-~]?[\"']?(?P<word>[A-Z_]\w*)(?s:.{0,5000}?)\n[ \t]*(?P=word)\b"
        )
    elif suffix in DASHES:
        comment = r"--[^\n]*|/\*(?s:.*?)(?:\*/|\Z)"
    strings += [
        r'"""(?s:.*?)(?:"""|\Z)',
        r"'''(?s:.*?)(?:'''|\Z)",
        r'"(?:\\.|[^"\\\n])*+"?',
    ]
    # after a letter, or in Rust without another quote, the quote is no string
    strings.append(
        r"'(?:\\[^\n]|[^\\\n])'"
        if suffix == "rs"
        else r"(?<![^\W_])'(?:\\.|[^'\\\n])*+'?"
    )
    if suffix in BACKTICK:
        strings.append(r"`(?s:\\.|[^`\\])*+`?")
    # a regular expression; after other signs, a slash is a division
    if suffix in JAVASCRIPT:
        strings.append(
            r"(?:(?<=return)|(?<=[(,=:\[!&|?{};+\-*%<>~^]))[ \t]*/(?![/*])(?:\\.|[^/\\\n])*+/"
        )
    if suffix == "sql":
        strings.append(r"\$\$(?s:.*?)(?:\$\$|\Z)")
    return re.compile(rf"(?P<comment>{comment})|{'|'.join(strings)}")
