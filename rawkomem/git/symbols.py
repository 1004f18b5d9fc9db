"""Find the text of a symbol in a source file, in any language, without a parser and in a limited
number of steps.

A definition starts with a line that looks like one. It continues while brackets are open or lines
are indented deeper, up to the next line that certainly starts something else: too much text causes
a needless warning, too little hides an edit. The result is the same on every machine, also for
files that do not parse. Citations hash this text, so changing these rules makes citations stale.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

Span = tuple[int, int]
LineSpan = tuple[int, int]


# Search the lines of a source file in a limited number of steps; find the sections of a Markdown
# file.

MAX_STEPS = 500_000  # about as many characters are read for one symbol; takes a quarter of a second


class TooLong(Exception):
    """Raised if a search takes too many steps: hooks wait for it, and the file may be hostile."""


class SourceLines(list[str]):
    """The lines of a text, and the number of steps left for searches; the limit is the same on every machine."""

    def __init__(self, text: str):
        super().__init__(text.split("\n"))
        self.left = MAX_STEPS

    def spend(self, steps: int) -> None:
        """Count steps; raise TooLong if none are left."""
        self.left -= steps
        if self.left < 0:
            raise TooLong

    @property
    def spent(self) -> int:
        """Return the number of steps so far."""
        return MAX_STEPS - self.left


def markdown_sections(lines: SourceLines, anchor: str) -> list[Span]:
    """Return the span of the Markdown section with this anchor, up to the next heading of its level or above."""
    lines.spend(len(lines))
    levels = [
        (n, len(line) - len(line.lstrip("#")))
        for n, line in enumerate(lines)
        if line.startswith("#")
    ]
    for at, (number, level) in enumerate(levels):
        lines.spend(len(lines[number]))
        if _anchor(lines[number]) == anchor.lower():
            following = (n for n, other in levels[at + 1 :] if other <= level)
            return [(number, next(following, len(lines)))]
    return []


def _anchor(heading: str) -> str:
    words = heading.strip("# ").lower()
    return "".join("-" if c in " -" else c for c in words if c.isalnum() or c in " -_")


# Find the text of a symbol in a source file, in any language, without a parser.
#
# A definition starts with a line that looks like one. It continues while brackets are open or
# lines are indented deeper, up to the next line that certainly starts something else: too much
# text causes a needless warning, too little hides an edit. The result is the same on every
# machine, also for files that do not parse. Citations hash this text, so changing these rules
# makes citations stale.

MAX_BEFORE_CHARS = (
    1_000  # before a name on its line: a longer line is minified code, not a definition
)


def _all(words: str) -> frozenset[str]:
    return frozenset(words.split())


DEFINING = _all(
    "def class function function* func fun fn fn* struct enum union interface trait type impl module mod namespace "
    "object protocol extension record typedef const let var val static macro_rules! macro #define sub defp defmodule "
    "defmacro procedure table view data newtype package message service rpc constant local my our actor typealias"
)
PLAIN = (
    "",
    '"',
    "'",
    "export ",
    "self.",
)  # prefixes of a name that is assigned; a key may be quoted
NOT_TYPES = _all(
    "if while for switch return new await throw case else elif catch with in and or not do yield"
)
TYPE_SIGNS = "_*&<>:,[]~ \t?@."  # with letters and digits, the characters before the name of a C or Java function
# Languages by the suffix of the file name:
HASH = _all(
    "py pyi rb sh bash zsh pl pm r ex exs yaml yml toml nim cr jl mk cmake tf hcl ini cfg conf ps1 gd"
)
DASHES = _all("lua sql hs elm adb ads vhd")  # comments start with --
BACKTICK = _all(
    "js jsx ts tsx mjs cjs mts cts go vue svelte"
)  # strings in backticks may have several lines
MARKDOWN = _all("md markdown mdx")
C = _all("c cc cpp cxx h hh hpp hxx m mm cu ino")
C_LIKE = C | _all("java cs")  # a type may be on the line above a name
NAMES_A_TYPE = _all(
    "const static struct enum union class"
)  # in C, these may also precede a type that is only used
HERE_TEXTS = _all(
    "rb sh bash zsh pl pm php cr"
)  # a string extends from `<<WORD` to a line with that word
ATTRIBUTES = ("@", "#[", "[[")
QUOTES_AND_REMARKS = ('"', "'", "`", "/", "#", "--", "$", "<<")
TRIPLE = ('"""', "'''")
REGEX_AFTER = "(,=:[!&|?{};+-*%<>~^"  # after these, a slash starts a regular expression in JavaScript, not a division
CLOSERS = "})]>"
BY_INDENT = _all(
    "py pyi yaml yml nim gd hs elm toml ini cfg conf"
)  # a line with the same indent always starts something else
# Words that may precede a defining word, in any order.
MODIFIERS = _all(
    "export default declare pub async static public private protected internal final abstract override virtual inline "
    "extern unsafe sealed open data suspend partial readonly native synchronized strictfp lateinit inner companion "
    "implicit lazy case create or replace temporary temp unique materialized local fileprivate mutating convenience "
    "required dynamic external factory covariant constexpr consteval noinline crossinline tailrec operator infix "
    "default volatile transient signed unsigned"
)
STARTS_NEW = _all(
    "import from use using require include #include package namespace describe test it alter drop grant comment insert "
    "select update delete go defimpl defprotocol defstruct attr_reader attr_accessor attr_writer private public "
    "protected"
)
ENDS = (
    "end",
    "end;",
    "end,",
    "end)",
    "fi",
    "done",
    "esac",
)  # lines that end a block and have its indent
GOES_ON = _all(
    "where rescue ensure else elif elsif elseif catch finally except as language returns return begin do then is while "
    "and or not with extends implements throws on in of end"
)


def symbol_text(lines: SourceLines, symbol: str, path: str) -> str:
    """Return the lines of all definitions of a symbol, with decorators; empty if there are none. Raises TooLong.

    `Class.method` is searched inside `Class`, then among definitions of `method` that name `Class`.
    """
    suffix = path.rpartition(".")[2].lower()
    if suffix in MARKDOWN:
        spans = markdown_sections(lines, symbol)
    else:
        parts = [part for part in symbol.replace("::", ".").split(".") if part]
        spans = _inside(lines, parts, suffix) or _naming(lines, parts, suffix)
        for first in range(1, len(parts) - 1):  # `class Outer::Inner` defines both on one line
            spans = spans or _inside(lines, parts[first:], suffix)
    lines.spend(sum(end - start for start, end in spans))
    numbers = sorted({number for start, end in spans for number in range(start, end)})
    return "\n".join(lines[number] for number in numbers)


def mentions_symbol(lines: SourceLines, symbol: str, path: str) -> bool:
    """Tell whether the last part of a symbol occurs as a word outside comments. Raises TooLong."""
    name, suffix = symbol.replace("::", ".").rpartition(".")[2], path.rpartition(".")[2].lower()
    return any(
        name in code and next(_words_at(code, name), -1) >= 0
        for code in _uncommented(lines, suffix)
    )


def _uncommented(lines: SourceLines, suffix: str) -> Iterator[str]:
    """Yield lines without comments; strings stay, because a key or a command may be a string."""
    inside = ""
    for line in lines:
        before = inside
        code, inside = _code(lines, line, inside, suffix, texts=True)
        if before != "*/" or code:
            yield "" if not before and _is_remark(line.strip(), suffix) else code


def _inside(lines: SourceLines, parts: list[str], suffix: str) -> list[LineSpan]:
    spans = [(0, len(lines))]
    for depth, part in enumerate(parts):
        spans = _definitions(
            lines, part, [(start + bool(depth), end) for start, end in spans], suffix
        )
    return [(_decorated(lines, start, suffix), end) for start, end in spans]


def _naming(lines: SourceLines, parts: list[str], suffix: str) -> list[LineSpan]:
    """Return definitions outside a class that name their owner: `func (t *Thing) Name()`, `void Thing::name()`."""
    if len(parts) < 2:
        return []
    found = _definitions(lines, parts[-1], [(0, len(lines))], suffix)
    owned = [
        (start, end) for start, end in found if next(_words_at(lines[start], parts[-2]), -1) >= 0
    ]
    return [(_decorated(lines, start, suffix), end) for start, end in owned]


def _definitions(
    lines: SourceLines, name: str, spans: list[LineSpan], suffix: str
) -> list[LineSpan]:
    """Return the least indented definitions of a name in these spans."""
    lines.spend(sum((end - start) // 4 + 1 for start, end in spans))
    numbers = [
        number for start, end in spans for number in range(start, end) if name in lines[number]
    ]
    found = [number for number in numbers if _defines(lines, number, name, suffix)]
    if len(found) > 1:
        buried = _buried(lines, suffix)
        found = [number for number in found if number not in buried] or found
    lines.spend(len(spans) * len(found) // 4)
    least = min((_indent(lines[n]) for n in found), default=0)
    limits = {n: end for start, end in spans for n in found if start <= n < end}
    return [(n, _end(lines, n, limits[n], suffix)) for n in found if _indent(lines[n]) == least]


def _buried(lines: SourceLines, suffix: str) -> set[int]:
    """Return the lines inside comments or strings of several lines: their definitions are only examples."""
    inside, found = "", set()
    for number, line in enumerate(lines):
        if inside:
            found.add(number)
        inside = _code(lines, line, inside, suffix)[1]
    return found


def _defines(lines: SourceLines, number: int, name: str, suffix: str) -> bool:
    bare = lines[number].strip()
    lines.spend(2 + len(bare) // 16)
    return not _is_remark(bare, suffix) and any(
        _defines_at(lines, number, bare, at, at + len(name), suffix)
        for at in takewhile(MAX_BEFORE_CHARS.__ge__, _words_at(bare, name))
    )


def _defines_at(
    lines: SourceLines, number: int, bare: str, start: int, end: int, suffix: str
) -> bool:
    lines.spend(2 + start + len(bare) // 64)
    before, after = bare[:start], bare[end:].lstrip()
    owner = _without_owner(before.strip())
    last = owner.rstrip("*&< \t").rpartition(" ")[2].lower()
    if last in DEFINING and not (suffix in C and last in NAMES_A_TYPE and _is_type_use(after)):
        return True
    if "impl" in owner.split("<", 1)[0].split() and (last == "for" or "impl<" in owner):
        return True
    if before in PLAIN and _assigns(after.lstrip("\"'?! ")):
        return True
    if not after.startswith(("(", "<")) or not _is_typed(owner):
        return False
    return _opens_block(lines, number, bare[end:], suffix) or (
        suffix in C_LIKE and bool(owner) and bare.endswith(";")
    )


def _is_type_use(after: str) -> bool:
    """Tell whether the text after a C name shows that it is used as a type: `const Thing& it`, `struct thing *next`."""
    return bool(after) and after[0] not in "{:;=<([" and not after.startswith("final")


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


def _opens_block(lines: SourceLines, number: int, name_end: str, suffix: str) -> bool:
    """Tell whether `{` follows the parameters, before any `;`: a definition, not a call or a declaration."""
    depth = 0
    for line in [name_end, *lines[number + 1 : number + 30]]:  # no parameter list is longer
        lines.spend(len(line))
        for c in line:
            depth += (c in "([") - (c in ")]")
            if depth <= 0 and c in "{;":
                return c == "{"
        if (
            depth <= 0 and line.rstrip().endswith(("}", ",")) and suffix not in C
        ):  # C++ lists members before the block
            return False
    return False


def _decorated(lines: SourceLines, start: int, suffix: str) -> int:
    """Return the first line of the decorators or attributes above a definition; skip comments and blank lines."""
    own, top, at = _indent(lines[start]), start, start - 1
    while at >= 0:
        lines.spend(2 + len(lines[at]) // 16)
        bare, indent = lines[at].strip(), _indent(lines[at])
        if indent == own and (
            _is_attribute(bare, suffix) or (at == top - 1 and _is_upper_half(bare, suffix))
        ):
            top = at
        elif (
            bare
            and indent <= own
            and not (indent == own and (bare[0] in CLOSERS or _is_remark(bare, suffix)))
        ):
            break
        at -= 1
    return top


def _is_attribute(bare: str, suffix: str) -> bool:
    return bare.startswith(ATTRIBUTES) or (suffix == "cs" and bare.startswith("["))


def _is_upper_half(bare: str, suffix: str) -> bool:
    """Tell whether a C line above a name belongs to it: a type or a template."""
    return (
        suffix in C_LIKE
        and bool(bare)
        and bare[-1] not in ";{}:,)"
        and not bare.startswith(("#", "//", "/*", "*"))
    )


def _end(lines: SourceLines, start: int, limit: int, suffix: str) -> int:
    """Return the line after the definition that starts at `start`."""
    own, depth, inside, end, over = _indent(lines[start]), 0, "", start, False
    for number in range(start, limit):
        line, bare = lines[number], lines[number].strip()
        outside = not inside and depth <= 0 and number > start
        at_edge = outside and bool(bare) and _indent(line) <= own
        if at_edge and _is_remark(bare, suffix):
            continue
        if at_edge and _is_other(bare, _indent(line) < own, over, suffix):
            break
        code, inside = _code(lines, line, inside, suffix)
        depth = max(0, depth + _depth(code))
        if bare:
            end = number
            over = not inside and depth <= 0 and _is_over(code.strip(), _indent(line) <= own)
    return end + 1


def _is_other(bare: str, is_outer: bool, over: bool, suffix: str) -> bool:
    """Tell whether a line ends a definition; it is outside brackets and not indented deeper than the definition."""
    if bare[0] in CLOSERS or bare.rstrip(" ") in ENDS:
        return is_outer
    if suffix in BY_INDENT:
        return True
    if _is_attribute(bare, suffix):
        return True
    words = bare.replace("(", " ").lower().split()
    first = next((word for word in words if word not in MODIFIERS), "")
    if first in DEFINING or (first in STARTS_NEW and over):
        return True
    return (over or is_outer) and bare[0] not in "{.,:=-+*/|&?" and first.rstrip(":") not in GOES_ON


def _is_over(code: str, at_edge: bool) -> bool:
    """Tell whether a definition may end with this line."""
    if not at_edge:
        return False
    return code.endswith((";", "}")) or code in ENDS or code[:1] in CLOSERS


def _is_remark(bare: str, suffix: str) -> bool:
    if suffix in HASH:
        return bare.startswith("#")
    if suffix in DASHES:
        return bare.startswith("--")
    return (
        bare.startswith(("//", "* ", "*/"))
        or bare == "*"
        or (bare.startswith("/*") and _is_open_end(bare))
    )


def _is_open_end(bare: str) -> bool:
    """Tell whether nothing follows the comment at the start of a line."""
    return not bare.partition("*/")[2].strip()


def _code(
    lines: SourceLines, line: str, inside: str, suffix: str, texts: bool = False
) -> tuple[str, str]:
    """Return a line without comments and, unless `texts`, strings; and the end sign of a string that stays open."""
    lines.spend(4)
    if inside.startswith("\n"):  # a string that ends at a line with this word
        return (line if texts else ""), ("" if line.strip().rstrip(";") == inside[1:] else inside)
    if not inside and not any(sign in line for sign in QUOTES_AND_REMARKS):
        return line, ""
    lines.spend(len(line))
    here = _here_word(line, suffix) if not inside and "<<" in line else ""
    code, at = "", 0
    while at < len(line):
        start = at
        if inside:
            close = line.find(inside, at)
            at = len(line) if close < 0 else close + len(inside)
            code += line[start:at] if texts and inside != "*/" else ""
            if close < 0:
                return code, inside
            inside = ""
            continue
        c = line[at]
        if _starts_remark(line, at, suffix):
            break
        if c == "/" and suffix not in HASH and line.startswith("/*", at):
            at, inside = at + 2, "*/"
            continue
        if c in "\"'" and line.startswith(TRIPLE, at):
            at, inside = at + 3, c * 3
        elif c == "`" and suffix in BACKTICK:
            at, inside = at + 1, c
        elif c == "$" and suffix == "sql" and (tag := _dollar_tag(line, at)):
            at, inside = at + len(tag), tag
        elif c in "\"'" or (c == "/" and suffix in BACKTICK and _may_be_regex(line, at)):
            at = _past_text(lines, line, at, suffix)
        else:
            at += 1
            code += c
            continue
        code += line[start:at] if texts else ""
    return code, inside or here


def _here_word(line: str, suffix: str) -> str:
    """Return `\\n` and the end word of a string in the lines below (`<<EOF`, `<<~'SQL'`); empty if there is none."""
    if suffix not in HERE_TEXTS:
        return ""
    rest = line.partition("<<")[2].lstrip("<-~")
    rest = rest.lstrip() if suffix in ("sh", "bash", "zsh") else rest
    word = _first_word(rest.lstrip("\"'\\"))
    return (
        f"\n{word}" if word and (word[0].isupper() or word[0] == "_" or rest[:1] in "\"'") else ""
    )


def _first_word(text: str) -> str:
    at = 0
    while at < len(text) and (text[at].isalnum() or text[at] == "_"):
        at += 1
    return text[:at]


def _dollar_tag(line: str, at: int) -> str:
    """Return the sign `$$` or `$name$` that starts an SQL string here; empty if there is none."""
    close = line.find("$", at + 1)
    tag = line[at : close + 1] if close > 0 else ""
    return tag if tag[1:-1].replace("_", "a").isalnum() or tag == "$$" else ""


def _depth(line: str) -> int:
    return sum(line.count(c) for c in "([{") - sum(line.count(c) for c in ")]}")


def _starts_remark(line: str, at: int, suffix: str) -> bool:
    if suffix in HASH:
        return line[at] == "#" and (at == 0 or line[at - 1] in " \t;)]}")
    return line.startswith("--" if suffix in DASHES else "//", at)


def _may_be_regex(line: str, at: int) -> bool:
    before = line[max(0, at - MAX_BEFORE_CHARS) : at].rstrip()
    return not before or before[-1] in REGEX_AFTER or before.endswith("return")


def _past_text(lines: SourceLines, line: str, at: int, suffix: str) -> int:
    """Return the position after a quoted string; after the quote if it opens no string (a Rust lifetime, a prime)."""
    quote = line[at]
    if (
        quote == "'"
        and suffix == "rs"
        and line[at + 2 : at + 3] != "'"
        and line[at + 1 : at + 2] != "\\"
    ):
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
    lines.spend(len(line) - at)
    return at + 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _words_at(text: str, word: str) -> Iterator[int]:
    """Yield the positions at which a word occurs as a whole word."""
    at = text.find(word) if word else -1
    while at >= 0:
        end = at + len(word)
        alone = not (at and _of_word(text[at - 1])) and not (
            end < len(text) and _of_word(text[end])
        )
        if alone:
            yield at
        at = text.find(word, end)


def _of_word(c: str) -> bool:
    return c.isalnum() or c in "_$"
