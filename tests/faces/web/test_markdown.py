"""Markdown becomes HTML that can do nothing."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from rawkomem.faces.web.page_markdown import (
    ALLOWED_ATTRIBUTES,
    ALLOWED_TAGS,
    open_renderer,
)

from tests.faces.web.hostile import HOSTILE

RENDER = open_renderer()


def render(text: str, meant=lambda name: ("", "")) -> str:
    return RENDER(text, meant)


class Parts(HTMLParser):
    """Every tag and attribute of an HTML text."""

    def __init__(self, html: str):
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markdown_is_harmless(text):
    html = render(text)
    for tag, attributes in Parts(html).found:
        assert tag in ALLOWED_TAGS
        assert set(attributes) <= ALLOWED_ATTRIBUTES.get(tag, set()) | {"rel"}
        address = attributes.get("href", "#/memory/")
        assert address.startswith(("https://", "http://", "mailto:", "#/memory/"))
        assert tag != "a" or "noopener" in attributes["rel"]


def test_what_people_write_stays():
    html = render(
        "# Why\n\n*So* **that** `x < y`:\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | ~~2~~ |\n\n```python\nx = 1\n```\n"
    )
    for part in (
        "<h1>Why</h1>",
        "<em>So</em>",
        "<code>x &lt; y</code>",
        "<li>one</li>",
        "<td>1</td>",
        "<s>2</s>",
        "<pre><code>x = 1\n</code></pre>",
    ):
        assert part in html


def test_links_to_the_web_and_to_memories():
    html = render(
        "[docs](https://example.org/a) and [[why apsw]] and [[mem_1|that one]]",
        lambda name: (name, f"Title of {name}"),
    )
    assert '<a href="https://example.org/a" target="_blank" rel="noopener noreferrer nofollow">docs</a>' in html
    assert 'href="#/memory/why%20apsw"' in html and ">Title of why apsw</a>" in html
    assert ">that one</a>" in html


@pytest.mark.parametrize(
    "text", ["[[ -f file ]]", "[[]]", "[[ ]]", "[[a\nb]]", "[[a[b]]", "`[[code]]`", "[[a ]]", "\\[[a]]"]
)
def test_what_is_no_link_in_a_file_is_none_on_the_page(text):
    assert "<a" not in render(text)


def test_a_link_leads_to_what_its_name_means():
    known = {"why-apsw#reasons": ("mem_1", "Why apsw"), "gone": ("", "")}
    html = render("[[why-apsw#reasons]], [[why-apsw#reasons|label]], [[gone]]", known.get)
    assert html.count('href="#/memory/mem_1"') == 2 and ">Why apsw</a>" in html and ">label</a>" in html
    assert 'href="#/memory/gone"' in html and ">gone</a>" in html


def test_a_dump_is_shown_as_it_is():
    html = render("<b>*x*</b>\n" * 5_000)
    assert html.startswith("<pre>&lt;b&gt;*x*") and "<em>" not in html


def test_a_badge_is_a_link_with_the_words_of_its_image():
    html = render(
        "[![build passing](https://ci.example/badge.svg)](https://ci.example/) ![](https://x.example/logo.png?a)"
    )
    assert "<img" not in html and "badge.svg" not in html and "!" not in html
    assert '<span class="picture">build passing</span></a>' in html and 'href="https://ci.example/"' in html
    assert '<span class="picture">logo.png</span>' in html


def test_nested_lists_and_tables_stay():
    html = render("1. a\n   - b\n     - c\n\n| x | y |\n|:--|--:|\n| 1 | `2` |")
    assert html.count("<ul>") == 2 and "<th>x</th>" in html and "<td><code>2</code></td>" in html
