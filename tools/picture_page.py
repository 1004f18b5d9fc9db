"""Takes the pictures of the page for the documentation, with the sample of the tests, in headless Chromium.

Needs what `make test-page` installs: .venv-page/bin/python -m tools.picture_page docs/images
"""

from __future__ import annotations

import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from rawkomem.faces.web.server import PageServer, open_for_page
from tests.faces.web.sample import make_sample

SIZE = {"width": 1440, "height": 900}
PICTURES = (("page-light.png", "light"), ("page-dark.png", "dark"))


def take(folder: Path) -> None:
    """Both pictures into a folder."""
    with tempfile.TemporaryDirectory() as temporary:
        project = make_sample(Path(temporary))
        with PageServer(open_for_page(str(project), "person")) as server, sync_playwright() as play:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            browser = play.chromium.launch(executable_path="/usr/bin/chromium")
            for name, scheme in PICTURES:
                page = browser.new_page(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
                page.goto(server.door.address)
                (_memory if scheme == "light" else _graph)(page)
                page.screenshot(path=str(folder / name))
            browser.close()
            server.shutdown()


def _memory(page: Page) -> None:
    page.fill("#search", "rounding prices")
    page.wait_for_selector(".list a mark")
    page.keyboard.press("Enter")
    page.fill("#task", "the invoice total is off by one øre")
    page.wait_for_selector(".factors li")
    page.evaluate("document.activeElement.blur()")


def _graph(page: Page) -> None:
    page.goto(page.url.partition("#")[0] + "#/graph")
    page.wait_for_selector(".node")
    page.locator(".node[aria-label='The outage of midsummer']").focus()
    page.wait_for_selector(".node-card h2")


if __name__ == "__main__":
    take(Path(sys.argv[1]))
