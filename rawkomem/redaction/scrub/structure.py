"""Stage 1, structural cleaning: removes scripts, styles, tags and Markdown's signs; corrects headings and blanks."""

from __future__ import annotations

import re

from .code import in_prose
from .config import Structural

BLOCKS = (
    "p", "div", "section", "article", "header", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li",
    "table", "tr", "blockquote", "pre",
)  # fmt: skip
TAG = re.compile(r"[/!]?[A-Za-z][^<>]*|!--[^<>]*--")
SILENT = re.compile(r"<(script|style)\b", re.IGNORECASE)  # elements whose text is not shown
HEADING = re.compile(r"^(#{1,6})(?=[^\W\d_][\w'-]*[ \t]+[^#\s])", re.MULTILINE)  # a line of #tags is not a heading
LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|__)(?=[^\s*_])([^*_\n]*[^\s*_])\1(?![\w*])")
RULE = re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,}$", re.MULTILINE)
BLANKS = re.compile(r"[ \t\f\v]+")
EDGE = re.compile(r" *\n *")
GAP = re.compile(r"\n{3,}")


def clean_structure(text: str, config: Structural) -> str:
    """Return the text without markup; code stays unchanged."""
    return in_prose(text.replace("\r\n", "\n").replace("\r", "\n"), lambda prose: _clean(prose, config))


def _clean(prose: str, config: Structural) -> str:
    if config.strip_html and "<" in prose:
        prose = _without_tags(_without_silent(prose))
    if config.strip_markdown:
        prose = RULE.sub("", EMPHASIS.sub(r"\2", LINK.sub(r"\1", prose)))
    prose = HEADING.sub(r"\1 ", prose)
    if config.collapse_whitespace:
        prose = GAP.sub("\n\n", EDGE.sub("\n", BLANKS.sub(" ", prose)))
    return prose


def _without_silent(text: str) -> str:
    """Remove scripts and styles with their contents; without an end tag, remove the rest, as a browser does."""
    out, at = [], 0
    while found := SILENT.search(text, at):
        out.append(text[at : found.start()])
        end = re.compile(rf"</{found[1]}[^<>]*>", re.IGNORECASE).search(text, found.end())
        at = end.end() if end else len(text)
    return "".join([*out, text[at:]])


def _without_tags(text: str) -> str:
    """Remove tags in one pass. After removing an inner tag, check the outer one again, so that no tag can hide."""
    out: list[str] = []
    opened: list[int] = []
    for part in re.split(r"([<>])", text):
        if part == "<":
            opened.append(len(out))
        elif part == ">" and opened:
            inside = "".join(out[opened[-1] + 1 :])
            if TAG.fullmatch(inside):
                del out[opened.pop() :]
                out.append("\n\n" if _name(inside) in BLOCKS and inside.startswith("/") else "")
                continue
            opened.clear()
        out.append(part)
    return "".join(out)


def _name(inside: str) -> str:
    return re.split(r"[\s/]", inside.lstrip("/!"), maxsplit=1)[0].lower()
