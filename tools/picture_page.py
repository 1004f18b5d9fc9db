"""Take screenshots of the web page with the tests' sample data, in headless Chromium.

It needs the packages that `make test-page` installs. Run `.venv-page/bin/python -m tools.picture_page docs/images` for
the pictures of the documentation. Pass `--all FOLDER` instead for every view, wide and narrow, light and dark.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from rawkomem.faces.web.page_server import PageServer, open_for_page
from rawkomem.repository import Repository
from tests.faces.web.sample import leave_drafts, leave_work, make_sample

SIZES = {"1440": {"width": 1440, "height": 900}, "390": {"width": 390, "height": 844}}
SCHEMES = ("light", "dark")
PRICES = "round-prices-once-at-the-very-end"
# name: address, and a selector of an element that exists when the view is complete
VIEWS = {
    "memories": ("#/", ".list a"),
    "memory": (f"#/memory/{PRICES}", ".prose"),
    "edit": (f"#/memory/{PRICES}/edit", ".memory-form"),
    "new": ("#/new", ".memory-form"),
    "graph": ("#/graph", ".canvas[data-ready=true]"),
    "review": ("#/review", ".waiting .card"),
    "draft": ("#/review/draft:drf_5c1d2e3f4a5b", "[data-waits=draft]"),
    "health": ("#/health", ".check"),
}


def visit(page: Page, name: str) -> None:
    """Go to a view and wait until it is complete."""
    address, complete = VIEWS[name]
    page.evaluate("address => { location.hash = address }", address)
    page.wait_for_selector(complete, timeout=60_000)
    page.wait_for_timeout(250)


def take_all(
    browser: Browser,
    address: str,
    folder: Path,
    look: Callable[[Page, str], None] | None = None,
) -> list[Path]:
    """Take a picture of every view in every size and scheme, and call `look` after each; return the files."""
    taken = []
    for scheme in SCHEMES:
        for width, size in SIZES.items():
            page = browser.new_page(
                viewport=size, color_scheme=scheme, reduced_motion="reduce"
            )
            page.goto(address)
            page.wait_for_selector(".list a")
            for name in VIEWS:
                visit(page, name)
                taken.append(folder / f"{name}-{width}-{scheme}.png")
                page.screenshot(path=str(taken[-1]))
                if look:
                    look(page, taken[-1].stem)
            page.close()
    return taken


def take_for_docs(browser: Browser, address: str, folder: Path) -> None:
    """Take the pictures that docs/web.md shows."""
    for name, scheme, prepare in (
        ("page-light", "light", _memory), ("page-dark", "dark", _graph), ("page-review", "light", _review),
    ):  # fmt: skip
        page = browser.new_page(
            viewport=SIZES["1440"], color_scheme=scheme, reduced_motion="reduce"
        )
        page.goto(address)
        page.wait_for_selector(".list a")
        prepare(page)
        page.screenshot(path=str(folder / f"{name}.png"))
        page.close()


def _memory(page: Page) -> None:
    page.fill("#search", "rounding prices")
    page.wait_for_selector(".list a mark")
    page.keyboard.press("Enter")
    page.fill("#task", "fix the rounding of the price")
    page.wait_for_selector(".factors li")
    page.evaluate("document.activeElement.blur()")


def _graph(page: Page) -> None:
    visit(page, "graph")
    places = page.evaluate("document.querySelector('.canvas').drawn().nodes")
    outage = next(
        place for place in places if place["title"] == "The outage of midsummer"
    )
    page.locator(".canvas").click(position={"x": outage["x"], "y": outage["y"]})
    page.wait_for_selector(".node-card h2")


def _review(page: Page) -> None:
    visit(page, "review")
    page.locator(".card", has=page.locator(".proposal")).scroll_into_view_if_needed()


@contextmanager
def _served() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as temporary:
        project = make_sample(Path(temporary))
        with Repository.open(str(project)) as repository:
            leave_drafts(repository)
        leave_work(project)
        with PageServer(open_for_page(str(project))) as server:
            server.repository.core.via = "person"
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield server.address
            server.shutdown()


def main(folder: Path, everything: bool) -> None:
    """Take the pictures and write them into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with _served() as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium")
        (take_all if everything else take_for_docs)(browser, address, folder)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[-1]), "--all" in sys.argv)
