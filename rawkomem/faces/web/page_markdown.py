"""Render Markdown of memories as safe HTML."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...format.blocks import WIKILINK
from ...model.errors import Refused
from ...model.installed import how_to_install
from ...text.clean import clean
from ...text.language import word_set

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token


# markdown-it-py renders with raw HTML off. Then nh3 removes all tags, attributes and values that
# are not listed here.

# of quotes, lists and emphases: usual texts have three levels, an attack thousands
MAX_NESTING = 20
# takes a quarter of a second at worst; longer text is shown as plain text
MAX_RENDERED_CHARS = 40_000
MEMORY_ADDRESS = "#/memory/"  # the page's own address of a memory
WEB_SCHEMES = ("https://", "http://", "mailto:")
ALLOWED_TAGS = set(
    word_set(
        """
        a blockquote br code del em hr li ol p pre s span strong ul h1 h2 h3 h4 h5 h6 table tbody td th thead tr
        """
    )
)
ALLOWED_ATTRIBUTES = {
    "a": {"href", "title", "target"},
    "ol": {"start"},
    "span": {"class"},
}
PICTURE = "picture"  # the only class

# name → id and title of its memory; both empty if there is none
Meant = Callable[[str], tuple[str, str]]


def open_renderer() -> Callable[[str, Meant], str]:
    """Return the function that renders Markdown as safe HTML. Raises Refused if a package is missing."""
    try:
        import nh3
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise Refused(
            f"the page needs {error.name}",
            f"run: {how_to_install('markdown-it-py', 'nh3')}",
        ) from None

    options = {"html": False, "maxNesting": MAX_NESTING}
    reader = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    reader.inline.ruler.before("link", "wikilink", _wikilink)
    reader.add_render_rule("link_open", _link_open)
    reader.add_render_rule("image", _image)

    def render(text: str, meant: Meant) -> str:
        text = clean(text)
        if len(text) > MAX_RENDERED_CHARS:
            html = f"<pre>{escape(text)}</pre>"
        else:
            html = reader.render(text, {"meant": meant})
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
        return value if value == PICTURE else None
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
        name = link[1].strip()
        label = link[0][2:-2].partition("|")[2].strip()
        id, title = state.env["meant"](name)
        state.push("link_open", "a", 1).attrs = {
            "href": MEMORY_ADDRESS + quote(id or name, safe="")
        }
        state.push("text", "", 0).content = label or title or name
        state.push("link_close", "a", -1)
    state.pos = link.end()
    return True


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
