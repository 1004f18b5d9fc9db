"""The documentation as a static site: every link leads somewhere, nothing comes from another machine, search works."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow
CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built as `make site` builds it: a warning is an error, such as a link or an anchor that is not there."""
    pytest.importorskip("material", reason="MkDocs Material is not installed: run 'make test-slow'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "docs/mkdocs.yml", "-d", str(folder)]
    around = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=around, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_there_and_can_be_searched(site):
    pages = {"index" if file.stem == "README" else file.stem for file in (ROOT / "docs").glob("*.md")}
    assert {f"{page}.html" for page in pages} <= {file.name for file in site.glob("*.html")}
    index = json.loads((site / "search" / "search_index.js").read_text("utf-8").partition("=")[2])
    assert pages <= {one["location"].partition(".html")[0] for one in index["docs"]}


def test_tutorials_come_first(site):
    titles = re.findall(r"(Tutorials|How to|Reference|Background)\s*</", (site / "index.html").read_text("utf-8"))
    assert list(dict.fromkeys(titles)) == ["Tutorials", "How to", "Reference", "Background"]


def test_nothing_is_loaded_from_another_machine(site):
    for file in site.rglob("*.html"):
        text = file.read_text("utf-8")
        loaded = re.findall(r'<(?:script|img|iframe)[^>]*src="([^"]+)"|<link[^>]*href="([^"]+)"', text)
        assert not [one for pair in loaded for one in pair if re.match(r"(https?:)?//", one)], file.name
        assert 'class="mermaid"' not in text, "the theme would load mermaid from a CDN"


@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
def test_the_search_works_from_the_disk(site):
    """In a browser without a network, on a page that is opened as a file."""
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000",
               "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom", f"file://{site}/index.html?q=quarantine"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert re.search(r'md-search-result__meta">\s*\d+ matching documents', done.stdout), done.stdout[-500:]
