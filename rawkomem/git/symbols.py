"""Find the text of a symbol in a source file, in any language, without a parser and in a limited
number of steps.

A definition starts with a line that looks like one. It continues while brackets are open or lines
are indented deeper, up to the next line that certainly starts something else: too much text causes
a needless warning, too little hides an edit. The result is the same on every machine, also for
files that do not parse. Citations hash this text, so changing these rules makes citations stale.
"""

from __future__ import annotations

import re
from functools import cache

Span = tuple[int, int]

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
    start, level = -1, 0
    for number, line in enumerate(lines):
        depth = len(line) - len(line.lstrip("#"))
        if start >= 0 and 0 < depth <= level:
            return [(start, number)]
        if start < 0 and depth:
            lines.spend(len(line))
            words = NOT_IN_ANCHOR.sub("", line.strip("# ").lower())
            if words.replace(" ", "-") == anchor.lower():
                start, level = number, depth
    return [(start, len(lines))] if start >= 0 else []


MAX_BEFORE_CHARS = 1_000  # before a name on its line: a longer line is minified code


def _all(words: str) -> frozenset[str]:
    return frozenset(words.split())


DEFINING = _all(
    "def class function function* func fun fn fn* struct enum union interface trait type impl module mod namespace "
    "object protocol extension record typedef const let var val static macro_rules! macro #define sub defp defmodule "
    "defmacro procedure table view data newtype package message service rpc constant local my our actor typealias"
)
PLAIN = ("", '"', "'", "export ", "self.")  # before a name that is assigned; a key may be quoted
ASSIGNS = re.compile(r"[\"'?! ]*(?:=(?![=>])|:(?!:)|<-)")  # after such a name
# Before a name: its owner, as in `func (t *T)`, `void T::` and `function T.`
OWNER = re.compile(r"(?:\([^(]*\)|(?<![\w<>$])(?:[\w<>$]*+\s*+[:.]++ *+)++)$")
IMPL = re.compile(r"(?:[^<]*\s)?impl(?:<|\s.*\sfor$)")  # before the name of a type in Rust
# Before the name of a C or Java function: only a type
TYPED = re.compile(
    r"(?!.*(?<!\S)(?:if|while|for|switch|return|new|await|throw|case|else|elif|catch|with|in|and|or|not|do|yield)(?!\S))"
    r"[\w*&<>:,\[\]~ \t?@.]*"
)
# After a C name that is only used as a type: `struct thing *next`
TYPE_USE = re.compile(r"(?!final)[^{:;=<(\[]")
UPPER_HALF = re.compile(r"(?!#|//|/?\*).*[^;{}:,)]")  # a C line above a name: a type or a template
NOT_IN_ANCHOR = re.compile(r"[^\w -]")
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
ATTRIBUTES = ("@", "#[", "[[")
SIGNS = re.compile("[\"'`/#]|--")  # a line without any of these has neither comments nor strings
# A regular expression in JavaScript; after other signs, a slash is a division
REGEX = r"(?:^|(?<=[(,=:\[!&|?{};+\-*%<>~^])|(?<=return))\s*/(?![/*])(?:\\.|[^/\\])*+/"
BLOCK_REMARK = r"/\*(?:[^*]|\*(?!/))*(?:\*/\s*)?$"  # a comment that fills its line
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
ENDS = ("end", "end;", "end,", "end)", "fi", "done", "esac")  # end a block and have its indent
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
    word, inside = _word(name), ""
    for line in lines:
        is_remark = not inside and _is_remark(line.strip(), suffix)
        code, inside = _code(lines, line, inside, suffix, texts=True)
        if name and name in code and not is_remark and word.search(code):
            return True
    return False


def _inside(lines: SourceLines, parts: list[str], suffix: str) -> list[Span]:
    spans = [(0, len(lines))]
    for depth, part in enumerate(parts):
        spans = _definitions(
            lines, part, [(start + bool(depth), end) for start, end in spans], suffix
        )
    return [(_decorated(lines, start, suffix), end) for start, end in spans]


def _naming(lines: SourceLines, parts: list[str], suffix: str) -> list[Span]:
    """Return definitions outside a class that name their owner: `func (t *Thing) Name()`, `void Thing::name()`."""
    if len(parts) < 2:
        return []
    found = _definitions(lines, parts[-1], [(0, len(lines))], suffix)
    owner = _word(parts[-2])
    owned = [(start, end) for start, end in found if owner.search(lines[start])]
    return [(_decorated(lines, start, suffix), end) for start, end in owned]


def _definitions(lines: SourceLines, name: str, spans: list[Span], suffix: str) -> list[Span]:
    """Return the least indented definitions of a name in these spans."""
    lines.spend(sum((end - start) // 4 + 1 for start, end in spans))
    limits = {
        number: end for start, end in spans for number in range(start, end) if name in lines[number]
    }
    word = _word(name)
    found = [number for number in limits if _defines(lines, number, word, suffix)]
    if len(found) > 1:
        buried = _buried(lines, suffix)
        found = [number for number in found if number not in buried] or found
    least = min((_indent(lines[n]) for n in found), default=0)
    return [(n, _end(lines, n, limits[n], suffix)) for n in found if _indent(lines[n]) == least]


def _buried(lines: SourceLines, suffix: str) -> set[int]:
    """Return the lines inside comments or strings of several lines: their definitions are only examples."""
    inside, found = "", set()
    for number, line in enumerate(lines):
        if inside:
            found.add(number)
        inside = _code(lines, line, inside, suffix)[1]
    return found


def _defines(lines: SourceLines, number: int, name: re.Pattern[str], suffix: str) -> bool:
    bare = lines[number].strip()
    lines.spend(2 + len(bare) // 16)
    if _is_remark(bare, suffix):
        return False
    for word in name.finditer(bare):
        if word.start() > MAX_BEFORE_CHARS:
            break
        if _defines_at(lines, number, bare, word, suffix):
            return True
    return False


def _defines_at(
    lines: SourceLines, number: int, bare: str, name: re.Match[str], suffix: str
) -> bool:
    start, end = name.span()
    lines.spend(2 + start + len(bare) // 64)
    before, after = bare[:start], bare[end:].lstrip()
    owner = OWNER.sub("", before.strip()).rstrip()
    type = owner.rstrip("*&< \t")
    last = type.rpartition(" ")[2].lower()
    if last in DEFINING and not (suffix in C and last in NAMES_A_TYPE and TYPE_USE.match(after)):
        return True
    if IMPL.match(type) or (before in PLAIN and ASSIGNS.match(after)):
        return True
    if not after.startswith(("(", "<")) or not TYPED.fullmatch(owner):
        return False
    is_declared = suffix in C_LIKE and owner != "" and bare.endswith(";")
    return is_declared or _opens_block(lines, number, bare[end:], suffix)


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
            _is_attribute(bare, suffix)
            or (at == top - 1 and suffix in C_LIKE and UPPER_HALF.fullmatch(bare))
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
            code = code.strip()
            ends = code.endswith((";", "}")) or code in ENDS or code[:1] in CLOSERS
            over = ends and not inside and depth <= 0 and _indent(line) <= own
    return end + 1


def _is_other(bare: str, is_outer: bool, over: bool, suffix: str) -> bool:
    """Tell whether a line ends a definition; it is outside brackets and not indented deeper than the definition."""
    if bare[0] in CLOSERS or bare.rstrip(" ") in ENDS:
        return is_outer
    if suffix in BY_INDENT or _is_attribute(bare, suffix):
        return True
    words = bare.replace("(", " ").lower().split()
    first = next((word for word in words if word not in MODIFIERS), "")
    if first in DEFINING or (first in STARTS_NEW and over):
        return True
    return (over or is_outer) and bare[0] not in "{.,:=-+*/|&?" and first.rstrip(":") not in GOES_ON


def _is_remark(bare: str, suffix: str) -> bool:
    return bool(_syntax(suffix)[0].match(bare))


@cache
def _syntax(suffix: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of a language: a line that is only a comment; a comment or string in a line."""
    quote, opening = "\"|(?<![^\\W_])'", "/\\*|"
    remark_line, remark = rf"//|\*(?: |/|$)|{BLOCK_REMARK}", "//"
    if suffix in HASH:
        quote, opening = "[\"']", ""
        remark_line, remark = "#", r"(?<![^ \t;)\]}])#"
    elif suffix in DASHES:
        remark_line = remark = "--"
    elif suffix == "rs":
        quote += r"(?=\\|.')"  # other quotes start a lifetime
    opening += "\"{3}|'{3}" + ("|`" if suffix in BACKTICK else "")
    text = rf"(?P<quote>{quote})(?:\\.|(?!(?P=quote))[^\\])*+(?P<closed>(?P=quote))?"
    text += f"|{REGEX}" if suffix in BACKTICK else ""
    return re.compile(remark_line), re.compile(rf"(?P<remark>{remark})|(?P<open>{opening})|{text}")


def _code(
    lines: SourceLines, line: str, inside: str, suffix: str, texts: bool = False
) -> tuple[str, str]:
    """Return a line without comments and, unless `texts`, strings; and the end sign of a string that stays open."""
    lines.spend(4)
    if not inside and not SIGNS.search(line):
        return line, ""
    lines.spend(len(line))
    code, at = "", 0
    while True:
        if inside:
            close = line.find(inside, at)
            end = len(line) if close < 0 else close + len(inside)
            if texts and inside != "*/":
                code += line[at:end]
            if close < 0:
                return code, inside
            at = end
        token = _syntax(suffix)[1].search(line, at)
        if token is None:
            return code + line[at:], ""
        code += line[at : token.start()]
        if token["remark"]:
            return code, ""
        at, inside = token.end(), token["open"] or ""
        if token["quote"] and not token["closed"]:  # not a string
            at = token.start() + 1
            lines.spend(len(line) - at)
        if inside == "/*":
            inside = "*/"
        elif texts:
            code += line[token.start() : at]


def _depth(line: str) -> int:
    return sum(line.count(c) for c in "([{") - sum(line.count(c) for c in ")]}")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
