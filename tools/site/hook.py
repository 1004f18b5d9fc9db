"""Add to the site what is not in docs/: the pages beside it, and a script for the search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = re.compile(r"\]\(\.\./([\w./-]+)")  # a link to a file beside docs/
BESIDE = {
    "README.md": "project.md",
    "SECURITY.md": "report.md",
    "CHANGELOG.md": "changes.md",
}
# for the search on pages that are opened from the disk
WORKER = "assets/iframe-worker.js"


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that stand beside docs/, and the script, to the site."""
    for name, page in BESIDE.items():
        files.append(File.generated(config, page, content=_page(name)))
    script = (Path(__file__).parent / "iframe-worker.js").read_text(encoding="utf-8")
    files.append(File.generated(config, WORKER, content=script))
    return files


def _page(name: str) -> str:
    """Return a file of the project's top folder with links as they are inside docs/."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for other, page in BESIDE.items():
        text = text.replace(f"]({other}", f"]({page}")
    return text.replace("](docs/", "](")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page whose links to files beside docs/ lead to their pages in the site."""
    return OUTSIDE.sub(
        lambda found: f"]({BESIDE.get(found[1], found[0][2:])}", markdown
    )
