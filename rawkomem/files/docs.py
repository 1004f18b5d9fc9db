"""Find the documentation pages in the installed package or in the checkout."""

from __future__ import annotations

import os

from ..model.errors import BadInput
from .templates import PACKAGE

SHIPPED = (os.path.join(PACKAGE, "docs"), os.path.join(os.path.dirname(PACKAGE), "docs"))  # wheel, checkout
MIGRATE = "migrate"  # folder of the pages about other systems
OVERVIEW = "README"  # the page that lists all others


def list_pages() -> list[tuple[str, str]]:
    """Return (name, description) of every page, in the order of the overview."""
    rows = [line.strip("| ").split(" | ", 1) for line in read_page(OVERVIEW).split("\n") if line.startswith("| [")]
    return [(link.partition("](")[2].removesuffix(".md)"), description) for link, description in rows]


def read_page(name: str) -> str:
    """Return the text of a page, or raise BadInput; `hosts`, `hosts.md` and `docs/hosts.md` name the same page."""
    *folders, last = name.split("/")
    file = os.path.basename(last).removesuffix(".md") + ".md"
    places = (MIGRATE,) if MIGRATE in folders else ("", MIGRATE)
    for folder in (os.path.join(shipped, place) for place in places for shipped in SHIPPED):
        try:
            with open(os.path.join(folder, file), encoding="utf-8") as stream:
                return stream.read()
        except OSError:
            continue
    raise BadInput(f"there is no page {name!r}", "run 'rawkomem docs' for a list")
