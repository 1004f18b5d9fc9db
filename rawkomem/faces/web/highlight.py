"""Mark comments, strings, numbers and keywords of code in HTML, without a library."""

from __future__ import annotations

import re
from functools import cache
from html import escape

MAX_MARKED_CHARS = 20_000  # of a block of code; longer code is only escaped
PREFIX = "hl-"
COMMENT, STRING, NUMBER, KEYWORD, KEY, ADDED, REMOVED = (
    "comment", "string", "number", "keyword", "key", "added", "removed",
)  # fmt: skip
CLASSES = frozenset(PREFIX + name for name in (COMMENT, STRING, NUMBER, KEYWORD, KEY, ADDED, REMOVED))

HASH, SLASHES, DASHES, BLOCK = r"\#[^\n]*", r"//[^\n]*", r"--[^\n]*", r"/\*[\s\S]*?(?:\*/|\Z)"
MARKUP = r"<!--[\s\S]*?(?:-->|\Z)"
DOUBLE, SINGLE, BACKTICK = (rf"{mark}(?:\\.|[^{mark}\\\n])*{mark}?" for mark in ('"', "'", "`"))
LONG = "\"\"\"[\\s\\S]*?(?:\"\"\"|\\Z)|'''[\\s\\S]*?(?:'''|\\Z)"
QUOTED = f"{DOUBLE}|{SINGLE}"
YAML_KEY = r"^[ \t]*(?:-[ \t]+)?[\w.\-/]+(?=[ \t]*[:=])"
JSON_KEY = r'"(?:\\.|[^"\\\n])*"(?=[ \t]*:)'
TAG = r"</?[A-Za-z][\w:.-]*|/?>"

C_WORDS = (
    "break case catch class const continue default do else enum extends false finally for if implements import "
    "interface new null private protected public return static super switch this throw true try void while"
)
WORDS = {
    "python": (
        "and as assert async await break class continue def del elif else except False finally for from global if "
        "import in is lambda match None nonlocal not or pass raise return True try while with yield"
    ),
    "javascript": (
        f"{C_WORDS} async await delete export from function in instanceof let of type typeof undefined var yield"
    ),
    "shell": "case do done elif else esac exit export fi for function if in local return set then unset until while",
    "sql": (
        "add alter and as asc begin between by case check column commit constraint create default delete desc "
        "distinct drop else end exists foreign from full group having if in index inner insert into is join key "
        "left like limit not null on or order outer primary references right rollback select set table then union "
        "unique update using values view when where with"
    ),
    "go": (
        "break case chan const continue default defer else fallthrough false for func go goto if import interface "
        "map nil package range return select struct switch true type var"
    ),
    "rust": (
        "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod "
        "move mut pub ref return self Self static struct super trait true type unsafe use where while"
    ),
    "c": (
        f"{C_WORDS} auto bool char double float goto int long namespace nullptr operator override short signed "
        "sizeof struct template typedef typename union unsigned using virtual volatile"
    ),
    "java": (
        f"{C_WORDS} abstract boolean byte char double final float fun int long object package record short "
        "synchronized throws val var when"
    ),
    "ruby": (
        "begin class def do else elsif end ensure false for if in module next nil not or rescue return self super "
        "then true unless until when while yield"
    ),
    "data": "true false null yes no on off",
    "css": "",
    "html": "",
}  # fmt: skip
# language: comments, strings, keys
RULES = {
    "python": (HASH, f"{LONG}|{QUOTED}", ""),
    "javascript": (f"{SLASHES}|{BLOCK}", f"{QUOTED}|{BACKTICK}", ""),
    "shell": (rf"(?<!\S){HASH}", QUOTED, ""),
    "sql": (f"{DASHES}|{BLOCK}", QUOTED, ""),
    "go": (f"{SLASHES}|{BLOCK}", f"{QUOTED}|{BACKTICK}", ""),
    "rust": (f"{SLASHES}|{BLOCK}", DOUBLE, ""),
    "c": (f"{SLASHES}|{BLOCK}", QUOTED, ""),
    "java": (f"{SLASHES}|{BLOCK}", QUOTED, ""),
    "ruby": (HASH, QUOTED, ""),
    "data": (rf"(?<!\S){HASH}", QUOTED, f"{JSON_KEY}|{YAML_KEY}"),
    "css": (BLOCK, QUOTED, r"[\w-]+(?=[ \t]*:)"),
    "html": (MARKUP, QUOTED, TAG),
}
NAMES = {
    "python": "py python3", "javascript": "js jsx ts tsx typescript mjs", "shell": "sh bash zsh console fish",
    "sql": "postgres sqlite mysql", "go": "golang", "rust": "rs", "c": "cpp c++ h hpp cs csharp objc", "ruby": "rb",
    "java": "kotlin kt scala swift", "data": "json yaml yml toml ini jsonc", "css": "scss less", "html": "xml svg vue",
}  # fmt: skip
LANGUAGES = {name: language for language, names in NAMES.items() for name in (language, *names.split())}


def highlight(code: str, language: str, attributes: str = "") -> str:
    """Return code as HTML whose known parts have a CSS class; code in an unknown language is only escaped."""
    name = language.lower()
    if len(code) > MAX_MARKED_CHARS:
        return escape(code)
    if name in ("diff", "patch"):
        return "".join(_line(line) for line in code.splitlines(keepends=True))
    known = LANGUAGES.get(name)
    return _marked(code, known) if known else escape(code)


def _line(line: str) -> str:
    kind = ADDED if line.startswith("+") else REMOVED if line.startswith("-") else ""
    return _span(kind, line) if kind else escape(line)


def _marked(code: str, language: str) -> str:
    pattern, words = _grammar(language)
    found, end = [], 0
    for match in pattern.finditer(code):
        kind = match.lastgroup or ""
        word = match[0].lower() if language == "sql" else match[0]
        if kind == "name":
            kind = KEYWORD if word in words else ""
        found += [escape(code[end : match.start()]), _span(kind, match[0]) if kind else escape(match[0])]
        end = match.end()
    return "".join([*found, escape(code[end:])])


@cache
def _grammar(language: str) -> tuple[re.Pattern[str], frozenset[str]]:
    comment, string, key = RULES[language]
    parts = [(KEY, key), (COMMENT, comment), (STRING, string), (NUMBER, r"\b\d[\w.]*"), ("name", r"[^\W\d]\w*")]
    pattern = "|".join(f"(?P<{name}>{rule})" for name, rule in parts if rule)
    return re.compile(pattern, re.MULTILINE), frozenset(WORDS[language].split())


def _span(kind: str, text: str) -> str:
    return f'<span class="{PREFIX}{kind}">{escape(text)}</span>'
