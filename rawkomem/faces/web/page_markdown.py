"""Render Markdown of memories as safe HTML, with highlighted code."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...format.body import WIKILINK
from ...model.errors import Refused
from ...model.installed import how_to_install
from ...text.clean import clean

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token


# Mark comments, strings, numbers and keywords of code in HTML, without a library.

MAX_MARKED_CHARS = 20_000  # of a block of code; longer code is only escaped
PREFIX = "hl-"
COMMENT, STRING, NUMBER, KEYWORD, KEY_CLASS, ADDED, REMOVED = (
    "comment", "string", "number", "keyword", "key", "added", "removed",
)  # fmt: skip
CLASSES = frozenset(
    PREFIX + name for name in (COMMENT, STRING, NUMBER, KEYWORD, KEY_CLASS, ADDED, REMOVED)
)

HASH, SLASHES, DASHES, BLOCK = r"\#[^\n]*", r"//[^\n]*", r"--[^\n]*", r"/\*[\s\S]*?(?:\*/|\Z)"
MARKUP = r"<!--[\s\S]*?(?:-->|\Z)"
DOUBLE, SINGLE, BACKTICK = (rf"{mark}(?:\\.|[^{mark}\\\n])*{mark}?" for mark in ('"', "'", "`"))
LONG = "\"\"\"[\\s\\S]*?(?:\"\"\"|\\Z)|'''[\\s\\S]*?(?:'''|\\Z)"
QUOTED = f"{DOUBLE}|{SINGLE}"
YAML_KEY = r"^[ \t]*(?:-[ \t]+)?[\w.\-/]+(?=[ \t]*[:=])"
JSON_KEY = r'"(?:\\.|[^"\\\n])*"(?=[ \t]*:)'
MARKUP_TAG = r"</?[A-Za-z][\w:.-]*|/?>"

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
    "html": (MARKUP, QUOTED, MARKUP_TAG),
}
NAMES = {
    "python": "py python3", "javascript": "js jsx ts tsx typescript mjs", "shell": "sh bash zsh console fish",
    "sql": "postgres sqlite mysql", "go": "golang", "rust": "rs", "c": "cpp c++ h hpp cs csharp objc", "ruby": "rb",
    "java": "kotlin kt scala swift", "data": "json yaml yml toml ini jsonc", "css": "scss less", "html": "xml svg vue",
}  # fmt: skip
LANGUAGES = {
    name: language for language, names in NAMES.items() for name in (language, *names.split())
}


def highlight(code: str, language: str, attributes: str = "") -> str:
    """Return code as HTML whose known parts have a CSS class; code in an unknown language is only escaped."""
    name = language.lower()
    if len(code) > MAX_MARKED_CHARS:
        return escape(code)
    if name in ("diff", "patch"):
        return "".join(_diff_line(line) for line in code.splitlines(keepends=True))
    known = LANGUAGES.get(name)
    return _marked_code(code, known) if known else escape(code)


def _diff_line(line: str) -> str:
    kind = ADDED if line.startswith("+") else REMOVED if line.startswith("-") else ""
    return _span(kind, line) if kind else escape(line)


def _marked_code(code: str, language: str) -> str:
    pattern, words = _grammar(language)
    found, end = [], 0
    for match in pattern.finditer(code):
        kind = match.lastgroup or ""
        word = match[0].lower() if language == "sql" else match[0]
        if kind == "name":
            kind = KEYWORD if word in words else ""
        found += [
            escape(code[end : match.start()]),
            _span(kind, match[0]) if kind else escape(match[0]),
        ]
        end = match.end()
    return "".join([*found, escape(code[end:])])


@cache
def _grammar(language: str) -> tuple[re.Pattern[str], frozenset[str]]:
    comment, string, key = RULES[language]
    parts = [
        (KEY_CLASS, key),
        (COMMENT, comment),
        (STRING, string),
        (NUMBER, r"\b\d[\w.]*"),
        ("name", r"[^\W\d]\w*"),
    ]
    pattern = "|".join(f"(?P<{name}>{rule})" for name, rule in parts if rule)
    return re.compile(pattern, re.MULTILINE), frozenset(WORDS[language].split())


def _span(kind: str, text: str) -> str:
    return f'<span class="{PREFIX}{kind}">{escape(text)}</span>'


# Render the Markdown of a memory as safe HTML: no raw HTML, no images, links only to the web and
# to memories.
#
# markdown-it-py renders with raw HTML off. Then nh3 removes all tags, attributes and values that
# are not listed here.

MAX_NESTING = (
    20  # of quotes, lists and emphases: usual texts have three levels, an attack thousands
)
MAX_RENDERED_CHARS = (
    40_000  # takes a quarter of a second at worst; longer text is shown as plain text
)
MEMORY_ADDRESS = "#/memory/"  # the page's own address of a memory
WEB_SCHEMES = ("https://", "http://", "mailto:")
ALLOWED_TAGS = {
    *(
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "s",
        "span",
        "strong",
        "ul",
    ),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr"),
}
ALLOWED_ATTRIBUTES = {
    "a": {"href", "title", "target"},
    "ol": {"start"},
    "span": {"class"},
    "li": {"class"},
}
PICTURE, BOX, TASK = "picture", "box", "task"
ALLOWED_CLASSES = CLASSES | {PICTURE, BOX, TASK}
TASK_MARK = re.compile(r"\[([ xX])\][ \t]+")

Meant = Callable[
    [str], tuple[str, str]
]  # name → id and title of its memory; both empty if there is none


def open_renderer() -> Callable[[str, Meant], str]:
    """Return the function that renders Markdown as safe HTML. Raises Refused if a package is missing."""
    try:
        import nh3
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise Refused(
            f"the page needs {error.name}", f"run: {how_to_install('markdown-it-py', 'nh3')}"
        ) from None

    options = {"html": False, "maxNesting": MAX_NESTING, "highlight": highlight}
    reader = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    reader.inline.ruler.before("link", "wikilink", _wikilink)
    reader.core.ruler.after("inline", "tasks", _tasks)
    reader.add_render_rule("link_open", _link_open)
    reader.add_render_rule("image", _image)

    def render(text: str, meant: Meant) -> str:
        text = clean(text)
        html = (
            f"<pre>{escape(text)}</pre>"
            if len(text) > MAX_RENDERED_CHARS
            else reader.render(text, {"meant": meant})
        )
        return nh3.clean(
            html,
            tags=ALLOWED_TAGS,
            attributes=ALLOWED_ATTRIBUTES,
            attribute_filter=_known_value,
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener noreferrer nofollow",
        )

    return render


def _known_value(tag: str, attribute: str, value: str) -> str | None:
    """Return an attribute's value if it is allowed, else None. A relative address is not: it leads to this server."""
    if attribute == "class":
        return value if value in ALLOWED_CLASSES else None
    if (
        attribute != "href"
        or value.lower().startswith(WEB_SCHEMES)
        or value.startswith(MEMORY_ADDRESS)
    ):
        return value
    return None


def _wikilink(state: StateInline, silent: bool) -> bool:
    """Turn `[[name]]`, `[[name|label]]` and `[[name#heading]]` into links."""
    link = WIKILINK.match(state.src, state.pos, state.posMax)
    if not link:
        return False
    if not silent:
        name, label = link[1].strip(), link[0][2:-2].partition("|")[2].strip()
        id, title = state.env["meant"](name)
        state.push("link_open", "a", 1).attrs = {
            "href": MEMORY_ADDRESS + quote(id or name, safe="")
        }
        state.push("text", "", 0).content = label or title or name
        state.push("link_close", "a", -1)
    state.pos = link.end()
    return True


def _tasks(state: StateCore) -> None:
    """Turn `[ ]` and `[x]` at the beginning of a list item into a checkbox character."""
    before: list[Token] = []
    for token in state.tokens:
        words = token.children[0] if token.type == "inline" and token.children else None
        if words and [one.type for one in before[-2:]] == ["list_item_open", "paragraph_open"]:
            mark = TASK_MARK.match(words.content) if words.type == "text" else None
            if mark:
                before[-2].attrs = {"class": TASK}
                words.content = words.content[mark.end() :]
                box = type(token)("text", "", 0, content="☐" if mark[1] == " " else "☑")
                start, end = (
                    type(token)("span_open", "span", 1),
                    type(token)("span_close", "span", -1),
                )
                start.attrs = {"class": BOX}
                token.children = [start, box, end, *(token.children or [])]
        before.append(token)


def _image(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    at: int,
    options: Any,
    env: MutableMapping[str, Any],
) -> str:
    """Return the alt text of an image, or its file name. Loading the image would contact a server."""
    token = tokens[at]
    words = renderer.renderInlineAsText(token.children or [], options, env).strip()
    file = str(token.attrGet("src") or "").partition("?")[0].rpartition("/")[2]
    return f'<span class="{PICTURE}">{escape(words or file[:80] or "image")}</span>'


def _link_open(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    at: int,
    options: Any,
    env: MutableMapping[str, Any],
) -> str:
    """Open web links in a new tab and memories in this one."""
    if str(tokens[at].attrGet("href") or "").lower().startswith(WEB_SCHEMES):
        tokens[at].attrSet("target", "_blank")
    return renderer.renderToken(tokens, at, options, env)
