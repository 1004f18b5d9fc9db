"""Check whether cited code is unchanged: each citation is fresh, stale, gone or unknown.

Blob ids are those of git, computed without git. For a symbol or lines, the id is that of their text
only, so that an edit elsewhere in the file has no effect. Git's list of tracked files tells which
files moved or are not checked out.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from hashlib import sha1

from ..files.git_folder import find_git
from ..files.layout import MAX_FILE_BYTES, Layout, read_bytes, relative_path
from ..format.blocks import (
    WRITTEN_BLOB_DIGITS,
    Citation,
    citations_in,
    read_citation,
    why_path_refused,
)
from ..model.entries import Value
from ..model.errors import BadInput
from ..model.values import record, replace

# seconds that an answer waits for git's list of tracked files
LIST_S = 2.0
SUBMODULE_MODE = "160000"
NOT_CHECKED_OUT = "S"  # git's tag of a file that a sparse checkout leaves out


@record
class Tracked:
    """A file or submodule that git tracks; its path is relative to the project."""

    path: str
    blob: str
    mode: str
    tag: str


class TrackedFiles:
    """The tracked files of a project, with paths relative to the project. Empty without git, or if git fails."""

    def __init__(self, project: str):
        self.project = project
        self.entries: list[Tracked] = []
        found = find_git(project)
        if found is None:
            return
        from .runner import Git, GitFailed  # loads subprocess, while a prompt waits

        inside = os.path.relpath(os.path.realpath(project), found.tree)
        words = ("ls-files", "-t", "--stage", "-z", "--", inside)
        try:
            lines = Git(found.tree, LIST_S).names(*words)
        except GitFailed:
            return
        prefix = "" if inside == "." else inside.replace(os.sep, "/") + "/"
        for line in lines:
            facts, _, path = line.partition("\t")
            tag, mode, blob, _ = facts.split(" ")
            self.entries.append(Tracked(path.removeprefix(prefix), blob, mode, tag))

    def holding(self, blob: str) -> list[str]:
        """Return the paths whose blob id starts with `blob`."""
        return [entry.path for entry in self.entries if entry.blob.startswith(blob)]

    def why_absent(self, path: str) -> str:
        """Return why a tracked file is not checked out; empty if it should be on disk."""
        for entry in self.entries:
            if entry.mode == SUBMODULE_MODE and path.startswith(entry.path + "/"):
                inner = os.path.join(self.project, *entry.path.split("/"), ".git")
                if not os.path.lexists(inner):
                    return f"the submodule {entry.path} is not checked out"
            if entry.path == path and entry.tag == NOT_CHECKED_OUT:
                return "not checked out here (sparse checkout)"
        return ""


FRESH = "fresh"
STALE = "stale"
GONE = "gone"
UNKNOWN = "unknown"

MAX_CITATIONS = 64  # citations of one memory that are checked
# bytes that are read and hashed for one answer; takes a few hundredths of a second
MAX_READ_BYTES = 16 * 1024 * 1024
# the search for a part of a symbol takes as long as reading its file this many times
SEARCH_COST = 4
# bytes that are hashed to find cited lines that moved inside their file
MAX_SLIDING_BYTES = 2 * 1024 * 1024
MAX_CANDIDATES = 12  # files that are searched for a place whose file is gone
# of a moved file that is recognized by its text: shorter files are often equal by chance
MIN_MOVED_BYTES = 32
BOM = b"\xef\xbb\xbf"
BINARY_PROBE_BYTES = 8000  # as git does, look for a NUL in the first bytes


@record
class Cited:
    """One citation of a memory, and its current state."""

    citation: Citation
    state: str
    note: str = ""  # where it moved, why it is not fresh


TOO_MUCH = "not checked: the memories of this answer cite too much code"
TOO_MANY = f"not checked: only the first {MAX_CITATIONS} citations of a memory are"


class _Unknown(Exception):
    """The cited place cannot be read; the message says why."""


class CitationChecks:
    """Checks citations and reads each cited file once; create a new one for each answer."""

    def __init__(self, layout: Layout, budget: int = MAX_READ_BYTES):
        self.project = os.path.realpath(layout.project)
        self.left = budget
        self.seen: dict[str, bytes | None] = {}

    @cached_property
    def tracked(self) -> TrackedFiles:
        """Return the tracked files; git is asked on first use, when a cited file is missing."""
        return TrackedFiles(self.project)

    def of(self, extra: Mapping[str, Value]) -> tuple[Cited, ...]:
        """Return the state of each citation of a memory."""
        texts = citations_in(extra)
        checked = [self.check(read_citation(text)) for text in texts[:MAX_CITATIONS]]
        unchecked = [
            Cited(read_citation(text), UNKNOWN, TOO_MANY)
            for text in texts[MAX_CITATIONS:]
        ]
        return *checked, *unchecked

    def check(self, citation: Citation) -> Cited:
        """Return the state of one citation."""
        try:
            return Cited(citation, *self._state(citation))
        except _Unknown as failure:
            return Cited(citation, UNKNOWN, str(failure))

    def now(self, citation: Citation) -> Cited:
        """Return the citation with the current blob id of its place; raise BadInput if the place does not exist."""
        try:
            data = self._read(citation.path)
        except _Unknown as failure:
            raise BadInput(
                f"cannot cite {citation.path}: {failure}", "cite a file of this project"
            ) from None
        if data is None:
            raise BadInput(
                f"no file {citation.path}",
                "write the path relative to the current folder",
            )
        blobs, whole = _identify(citation, data)
        if not blobs:
            raise BadInput(
                f"{citation.path} has no {_part(citation)}",
                "cite the whole file, or a part that exists",
            )
        # as git commits it
        usual = blobs[1 if whole and len(blobs) > 1 and b"\r\n" in data else 0]
        blob = next(
            (blob for blob in blobs if whole and self.tracked.holding(blob)), usual
        )
        note = f"the definition of {citation.symbol} was not found in {citation.path}: the whole file counts"
        written = replace(citation, blob=blob[:WRITTEN_BLOB_DIGITS])
        return Cited(written, FRESH, note if whole and citation.symbol else "")

    def _state(self, citation: Citation) -> tuple[str, str]:
        if (
            citation.place == citation.path
            and not citation.blob
            and os.path.isdir(self._file(citation.path))
        ):
            return FRESH, ""
        ids = self._ids(citation, citation.path)
        if ids is None:
            return self._elsewhere(citation)
        if not ids:
            return GONE, f"{citation.path} has no {_part(citation)}"
        if not citation.blob or _is_among(citation.blob, ids):
            return FRESH, ""
        if citation.lines:
            moved = _moved_lines(citation, self._read(citation.path) or b"")
        else:
            moved = ""
        changed = f"changed since: now {ids[0][:WRITTEN_BLOB_DIGITS]}"
        return (FRESH, f"now lines {moved}") if moved else (STALE, changed)

    def _ids(self, citation: Citation, path: str) -> list[str] | None:
        """Return the possible blob ids of the cited place in a file, none if it is gone; None if there is no file."""
        data = self._read(path)
        if data is None:
            return None
        if citation.symbol:
            if self.left <= 0:
                raise _Unknown(TOO_MUCH)
            self.left -= len(data) * SEARCH_COST * (1 + citation.symbol.count("."))
        return _identify(citation, data)[0]

    def _elsewhere(self, citation: Citation) -> tuple[str, str]:
        """Return the state of a missing file: it may not be checked out, or it moved, which the hash proves."""
        absent = self.tracked.why_absent(citation.path)
        if absent:
            return UNKNOWN, absent
        paths = [
            path for path in self._candidates(citation) if self._is_at(citation, path)
        ]
        if len(paths) == 1 or (paths and citation.place != citation.path):
            return FRESH, f"moved to {paths[0]}"
        same = f"; {', '.join(paths)} hold the same text" if paths else ""
        return GONE, f"no file {citation.path}{same}"

    def _is_at(self, citation: Citation, path: str) -> bool:
        try:
            ids = self._ids(citation, path)
            is_whole = citation.place == citation.path
            if is_whole and os.path.getsize(self._file(path)) < MIN_MOVED_BYTES:
                return False
        except (_Unknown, OSError):
            return False
        return _is_among(citation.blob, ids or [])

    def _candidates(self, citation: Citation) -> Sequence[str]:
        """Return tracked files to which a cited file may have moved: with its blob, its name, or its suffix."""
        if not citation.blob:
            return ()
        same = self.tracked.holding(citation.blob)
        if citation.place == citation.path:
            return same[:MAX_CANDIDATES]
        name = citation.path.rpartition("/")[2]
        suffix = os.path.splitext(citation.path)[1]
        paths = [entry.path for entry in self.tracked.entries]
        namesakes = [path for path in paths if path.rpartition("/")[2] == name]
        alike = [path for path in paths if suffix and path.endswith(suffix)]
        # files with more equal folders come first
        folders = citation.path.split("/")[:-1]
        alike.sort(
            key=lambda path: -sum(map(operator.eq, path.split("/")[:-1], folders))
        )
        return list(dict.fromkeys([*same, *namesakes, *alike]))[:MAX_CANDIDATES]

    def _read(self, path: str) -> bytes | None:
        """Return the bytes of a file below the project; None if it does not exist. Raise _Unknown on other errors."""
        if path not in self.seen:
            self.seen[path] = self._read_once(path)
        return self.seen[path]

    def _read_once(self, path: str) -> bytes | None:
        file = self._file(path)
        if self.left <= 0:
            raise _Unknown(TOO_MUCH)
        try:
            data = read_bytes(file)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as failure:
            raise _Unknown(f"cannot be read: {failure.strerror}") from None
        self.left -= len(data)
        if len(data) > MAX_FILE_BYTES:
            raise _Unknown(f"larger than {MAX_FILE_BYTES >> 20} MiB: not checked")
        return data

    def _file(self, path: str) -> str:
        """Return the file of a cited path; raise _Unknown if the path leads out of the project or through a link."""
        refused = why_path_refused(path)
        if refused:
            raise _Unknown(f"refused: the path {refused}")
        file = os.path.normpath(os.path.join(self.project, *path.split("/")))
        if os.path.realpath(file) != file:
            raise _Unknown(
                "refused: the path leads through a link; cite the file itself"
            )
        return file


def place_from(layout: Layout, text: str, base: str) -> str:
    """Return a citation's place with its path relative to the project; `base` is the folder of the given path.

    Links are resolved. Raise BadInput if the file is outside the project.
    """
    citation = read_citation(text)
    project = os.path.realpath(layout.project)
    file = os.path.realpath(os.path.join(base, citation.path))
    if not file.startswith(project.rstrip(os.sep) + os.sep):
        raise BadInput(
            f"{citation.path} is outside {project}", "cite a file of this project"
        )
    return replace(citation, path=relative_path(file, project), blob="").text


def _identify(citation: Citation, data: bytes) -> tuple[list[str], bool]:
    """Return the possible blob ids of the cited place, its own first, none if it is gone; whether it is the whole file."""
    whole = blob_ids(data)
    text = _text(data) if citation.symbol or citation.lines else ""
    if citation.lines:
        first, last = citation.lines
        lines = text.split("\n")[first - 1 : last]
        if len(lines) <= last - first or lines == [""]:
            return [], False
        return [_text_id("\n".join(lines)), *whole], False
    if citation.symbol:
        try:
            own = symbol_text(text, citation.symbol, citation.path)
            if own:
                return [_text_id(own), *whole], False
            if not mentions_symbol(text, citation.symbol, citation.path):
                return [], True
        except TooLong:
            pass
    return whole, True


def _moved_lines(citation: Citation, data: bytes) -> str:
    """Return the new line numbers of cited lines in their file; empty if not found or too long to search."""
    if not citation.lines:
        return ""
    count = citation.lines[1] - citation.lines[0] + 1
    lines = _text(data).split("\n")
    if len(data) * count > MAX_SLIDING_BYTES:
        return ""
    for start in range(len(lines) - count + 1):
        if _text_id("\n".join(lines[start : start + count])).startswith(citation.blob):
            return f"{start + 1}-{start + count}"
    return ""


def blob_ids(data: bytes) -> list[str]:
    r"""Return the blob ids of a file: of its bytes, and of its text with \n line ends, as autocrlf commits it.

    Texts with and without a byte order mark count as equal.
    """
    if b"\0" in data[:BINARY_PROBE_BYTES]:
        return [blob_id(data)]
    bare = data.removeprefix(BOM)
    forms = [
        data,
        data.replace(b"\r\n", b"\n"),
        bare,
        bare.replace(b"\r\n", b"\n"),
        BOM + bare,
    ]
    return list(map(blob_id, dict.fromkeys(forms)))


def blob_id(data: bytes) -> str:
    """Return git's blob id of these bytes."""

    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _text(data: bytes) -> str:
    return (
        data.removeprefix(BOM).decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    )


def _text_id(text: str) -> str:
    return blob_id((text.rstrip("\n") + "\n").encode("utf-8", "surrogateescape"))


def _is_among(blob: str, ids: list[str]) -> bool:
    return any(id.startswith(blob) for id in ids)


def _part(citation: Citation) -> str:
    if citation.lines:
        return f"lines {citation.lines[0]}-{citation.lines[1]}"
    return f"symbol {citation.symbol}"


# Find the text of a symbol in a source file with a table of definition patterns, without a parser.
#
# A definition ends where indentation and brackets end. If it is not found, the whole file counts:
# too much text causes a needless warning, too little hides an edit. The result is the same on every
# machine. Citations hash this text, so changing these rules makes citations stale.

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
    """Return whether the last part of a symbol occurs as a word outside comments. Raises TooLong."""
    name = symbol.replace("::", ".").rpartition(".")[2]
    tokens = _tokens(path.rpartition(".")[2].lower())
    code = tokens.sub(lambda token: " " if token["comment"] else token[0], text)
    return any(_occurrences(code, name, (0, len(code))))


def _section(text: str, anchor: str) -> str:
    """Return the Markdown section with this anchor, up to the next heading of its level or above."""
    start = -1
    level = 0
    for heading in HEADING.finditer(text):
        if start >= 0 and len(heading[1]) <= level:
            return text[start : heading.start() - 1]
        words = NOT_IN_ANCHOR.sub("", heading[2].strip("# ").lower())
        if start < 0 and words.replace(" ", "-") == anchor.lower():
            start = heading.start()
            level = len(heading[1])
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
    """Return whether the name at this place is defined there."""
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
    start = bare.rfind("\n", 0, at) + 1
    end = at
    depth = 0
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
