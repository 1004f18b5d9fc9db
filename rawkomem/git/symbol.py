"""Find the text of a symbol in a source file, in any language, without a parser.

A definition is a line that reads like one; it continues while brackets are open or lines are indented deeper. The text
is the same on every machine, also for files that do not parse. Citations hash it: changed rules make them stale.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]  # lines [first, behind the last), counted from 0


def _all(words: str) -> frozenset[str]:
    return frozenset(words.split())


DEFINING = _all(
    "def class function function* func fun fn fn* struct enum union interface trait type impl module mod namespace "
    "object protocol extension record typedef const let var val static macro_rules! macro #define sub defp defmodule "
    "defmacro procedure table view data newtype package message service rpc constant local my our actor typealias"
)
PLAIN = ("", '"', "'", "export ", "self.")  # what may stand before a name that is assigned: a key may be quoted
NOT_TYPES = _all("if while for switch return new await throw case else elif catch with in and or not do yield")
TYPE_SIGNS = "_*&<>:,[]~ \t?"  # besides letters and digits: what stands before the name of a C or Java function
# Languages by the end of the file name:
HASH = _all("py pyi rb sh bash zsh pl pm r ex exs yaml yml toml nim cr jl mk cmake tf hcl ini cfg conf ps1 gd")
DASHES = _all("lua sql hs elm adb ads vhd")  # remarks start with --
BACKTICK = _all("js jsx ts tsx mjs cjs mts cts go vue svelte")  # texts in backticks run over lines
MARKDOWN = _all("md markdown mdx")
TRIPLE = ('"""', "'''")
REGEX_AFTER = "(,=:[!&|?{};+-*%<>~^"  # where a slash starts a regular expression in JavaScript, not a division
CLOSERS = ("}", ")", "]", "end")


def symbol_text(text: str, symbol: str, path: str) -> str:
    """Return the lines of all definitions of a symbol, with decorators; empty if there is none.

    `Class.method` is searched inside `Class`, then among definitions of `method` that name `Class`.
    """
    suffix = path.rpartition(".")[2].lower()
    lines = text.split("\n")
    if suffix in MARKDOWN:
        spans = _sections(lines, symbol)
    else:
        parts = [part for part in symbol.replace("::", ".").split(".") if part]
        spans = _inside(lines, parts, suffix) or _naming(lines, parts, suffix)
    return "\n".join(line for start, end in spans for line in lines[start:end])


def mentions(text: str, symbol: str) -> bool:
    """Tell whether the last part of a symbol occurs as a word."""
    name = symbol.replace("::", ".").rpartition(".")[2]
    return next(_words_at(text, name), -1) >= 0


def _inside(lines: list[str], parts: list[str], suffix: str) -> list[Span]:
    spans = [(0, len(lines))]
    for depth, part in enumerate(parts):
        spans = _definitions(lines, part, [(start + bool(depth), end) for start, end in spans], suffix)
    return [(_decorated(lines, start), end) for start, end in spans]


def _naming(lines: list[str], parts: list[str], suffix: str) -> list[Span]:
    """Return definitions outside that name their owner: `func (t *Thing) Name()`, `void Thing::name()`."""
    if len(parts) < 2:
        return []
    found = _definitions(lines, parts[-1], [(0, len(lines))], suffix)
    owned = [(start, end) for start, end in found if next(_words_at(lines[start], parts[-2]), -1) >= 0]
    return [(_decorated(lines, start), end) for start, end in owned]


def _definitions(lines: list[str], name: str, spans: list[Span], suffix: str) -> list[Span]:
    """Return the least indented definitions of a name in these spans."""
    numbers = (number for start, end in spans for number in range(start, end) if name in lines[number])
    found = [number for number in numbers if _defines(lines, number, name, suffix)]
    least = min((_indent(lines[n]) for n in found), default=0)
    limits = {n: end for start, end in spans for n in found if start <= n < end}
    return [(n, _end(lines, n, limits[n], suffix)) for n in found if _indent(lines[n]) == least]


def _defines(lines: list[str], number: int, name: str, suffix: str) -> bool:
    bare = lines[number].strip()
    return not _is_remark(bare, suffix) and any(
        _defines_at(lines, number, bare, at, at + len(name)) for at in _words_at(bare, name)
    )


def _defines_at(lines: list[str], number: int, bare: str, start: int, end: int) -> bool:
    before, after = bare[:start], bare[end:].lstrip()
    owner = _without_owner(before.strip())
    last = owner.rstrip("*&< \t").rpartition(" ")[2].lower()
    if last in DEFINING or (last == "for" and owner.startswith("impl")) or owner.startswith("impl<"):
        return True
    if before in PLAIN and _assigns(after.lstrip("\"'?! ")):
        return True
    return after.startswith(("(", "<")) and _is_typed(owner) and _opens_block(lines, number, name_end=bare[end:])


def _assigns(after: str) -> bool:
    return after.startswith(("=", ":", "<-")) and not after.startswith(("==", "=>", "::"))


def _without_owner(before: str) -> str:
    """Return the text before a name without its owner: `func (t *T)`, `void T::`, `function T.`."""
    if before.endswith(")") and "(" in before:
        return before[: before.rindex("(")].rstrip()
    while before.endswith(("::", ".", ":")):
        before = before.rstrip(":.").rstrip()
        before = before[: len(before) - len(_last_word(before))].rstrip(" ")
    return before


def _last_word(text: str) -> str:
    at = len(text)
    while at and (text[at - 1].isalnum() or text[at - 1] in "_<>$"):
        at -= 1
    return text[at:]


def _is_typed(before: str) -> bool:
    """Tell whether only a type precedes a name."""
    words = before.split()
    return not (set(words) & NOT_TYPES) and all(c.isalnum() or c in TYPE_SIGNS for c in before)


def _opens_block(lines: list[str], number: int, name_end: str) -> bool:
    """Tell whether `{` follows the parameters, before any `;`: a definition, not a call or a declaration."""
    depth = 0
    for line in [name_end, *lines[number + 1 : number + 30]]:  # no list of parameters is longer
        for c in line:
            depth += (c in "([") - (c in ")]")
            if depth <= 0 and c in "{;":
                return c == "{"
        if depth <= 0 and line.rstrip().endswith(("}", ",")):
            return False
    return False


def _decorated(lines: list[str], start: int) -> int:
    """Return where the decorators or attributes directly above a definition start."""
    own, top, at = _indent(lines[start]), start, start - 1
    while at >= 0 and lines[at].strip():
        bare, indent = lines[at].lstrip(), _indent(lines[at])
        if indent == own and bare.startswith(("@", "#[")):
            top = at
        elif indent < own or (indent == own and bare[0] not in ")]}"):
            break
        at -= 1
    return top


def _end(lines: list[str], start: int, limit: int, suffix: str) -> int:
    """Return the line behind the definition that starts here."""
    own, depth, inside, end, remark = _indent(lines[start]), 0, "", start, False
    for number in range(start, limit):
        line = lines[number]
        if number > start and not inside and depth <= 0 and line.strip():
            bare, indent = line.lstrip(), _indent(line)
            remark = indent <= own and _is_remark(bare, suffix)
            closes = indent == own and (bare.startswith(CLOSERS[:3]) or bare.rstrip(" ;") == CLOSERS[3])
            if indent <= own and not (remark or closes or (indent == own and bare.startswith("{"))):
                break
        change, inside = _scan(line, inside, suffix)
        depth = max(0, depth + change)
        if line.strip() and not remark:
            end = number
    return end + 1


def _is_remark(bare: str, suffix: str) -> bool:
    if suffix in HASH:
        return bare.startswith("#")
    return bare.startswith("--") if suffix in DASHES else bare.startswith(("//", "/*", "*"))


def _scan(line: str, inside: str, suffix: str) -> tuple[int, str]:
    """Return how a line changes the depth of brackets, and the sign that ends a text or remark it leaves open."""
    if not inside and not any(sign in line for sign in ('"', "'", "`", "/", "#", "--")):
        return _depth(line), ""
    depth = at = 0
    while at < len(line):
        if inside:
            close = line.find(inside, at)
            if close < 0:
                return depth, inside
            at, inside = close + len(inside), ""
            continue
        c = line[at]
        if _starts_remark(line, at, suffix):
            break
        if c == "/" and suffix not in HASH and line.startswith("/*", at):
            at, inside = at + 2, "*/"
        elif c in "\"'" and line.startswith(TRIPLE, at):
            at, inside = at + 3, c * 3
        elif c == "`" and suffix in BACKTICK:
            at, inside = at + 1, c
        elif c in "\"'" or (c == "/" and suffix in BACKTICK and _may_be_regex(line, at)):
            at = _past_text(line, at, suffix)
        else:
            depth += (c in "([{") - (c in ")]}")
            at += 1
    return depth, inside


def _depth(line: str) -> int:
    return sum(line.count(c) for c in "([{") - sum(line.count(c) for c in ")]}")


def _starts_remark(line: str, at: int, suffix: str) -> bool:
    if suffix in HASH:
        return line[at] == "#" and (at == 0 or line[at - 1] in " \t;)]}")
    return line.startswith("--" if suffix in DASHES else "//", at)


def _may_be_regex(line: str, at: int) -> bool:
    before = line[:at].rstrip()
    return not before or before[-1] in REGEX_AFTER or before.endswith("return")


def _past_text(line: str, at: int, suffix: str) -> int:
    """Return the place behind a quoted text; behind the quote if it opens none (a Rust lifetime, a prime)."""
    quote = line[at]
    if quote == "'" and suffix == "rs" and line[at + 2 : at + 3] != "'" and line[at + 1 : at + 2] != "\\":
        return at + 1
    if quote == "'" and suffix not in HASH and at and line[at - 1].isalnum():
        return at + 1
    spot = at + 1
    while spot < len(line):
        if line[spot] == "\\":
            spot += 1
        elif line[spot] == quote:
            return spot + 1
        spot += 1
    return at + 1


def _sections(lines: list[str], anchor: str) -> list[Span]:
    """Return the Markdown section whose heading has this anchor, up to the next heading of its level."""
    levels = [(n, len(line) - len(line.lstrip("#"))) for n, line in enumerate(lines) if line.startswith("#")]
    for at, (number, level) in enumerate(levels):
        if _anchor(lines[number]) == anchor.lower():
            following = (n for n, other in levels[at + 1 :] if other <= level)
            return [(number, next(following, len(lines)))]
    return []


def _anchor(heading: str) -> str:
    words = heading.strip("# ").lower()
    return "".join("-" if c in " -" else c for c in words if c.isalnum() or c in " -_")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _words_at(text: str, word: str) -> Iterator[int]:
    """Yield where a word stands by itself."""
    at = text.find(word) if word else -1
    while at >= 0:
        end = at + len(word)
        alone = not (at and _of_word(text[at - 1])) and not (end < len(text) and _of_word(text[end]))
        if alone:
            yield at
        at = text.find(word, end)


def _of_word(c: str) -> bool:
    return c.isalnum() or c in "_$"
