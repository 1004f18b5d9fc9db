"""Answer two commands of the editor: search memories, and explain whether a memory is recalled for a task."""

from __future__ import annotations

from typing import Any

from ...model.errors import BadInput
from ...model.task import Task
from ...recall.explain import explain
from ...recall.search import Found, snippet
from ...text.clean import one_line
from .commands import memory_at
from .documents import Documents, uri_of
from .shelf import Shelf
from .tell import HIDDEN_STATUSES

SEARCH, WHY = "rawkomem.search", "rawkomem.why"
MAX_RESULTS = 20
SNIPPET_CHARS = 160


async def search(documents: Documents, *given: Any) -> list[dict[str, object]]:
    """Return the memories of all open folders that fit a query. Takes `query`."""
    query = str(given[0]).strip() if given else ""
    if not query:
        raise BadInput("a search needs a query", f'run {SEARCH} with ["how do we retry"]')
    return await documents.worker.run(_search, documents, query)


def _search(documents: Documents, query: str) -> list[dict[str, object]]:
    found = [(shelf, item) for shelf in documents.shelves() for item in shelf.repository.search(query, MAX_RESULTS)]
    found.sort(key=lambda pair: -pair[1].score)
    return [_result(*pair) for pair in found[:MAX_RESULTS]]


def _result(shelf: Shelf, item: Found) -> dict[str, object]:
    row = item.row
    hidden = row.status in HIDDEN_STATUSES
    return {
        "id": row.id,
        "title": one_line(row.title) if row.title and not hidden else row.id,
        "status": row.status,
        "fits": item.fits,
        "text": "" if hidden else one_line(snippet(item, (), SNIPPET_CHARS)),
        "uri": uri_of(shelf, row.path),
        "line": row.line,
    }


async def why(documents: Documents, *given: Any) -> dict[str, object]:
    """Return whether the memory at a line is recalled for a task, and why. Takes a URI, a line from 0, and a task."""
    uri, line, task = given if len(given) == 3 else ("", 0, "")
    if not str(task).strip():
        raise BadInput(f"{WHY} needs a document, a line and a task", f'run {WHY} with [uri, line, "add a retry"]')
    return await documents.worker.run(_why, documents, str(uri), int(line), str(task).strip())


def _why(documents: Documents, uri: str, line: int, task: str) -> dict[str, object]:
    document = documents.get(uri)
    memory = memory_at(document, line) if document else None
    if document is None or memory is None:
        raise BadInput("no memory at the cursor", "put the cursor into an entry whose frontmatter is valid")
    item, inside = document.shelf.repository.explain(memory.id, Task(task))
    said = "recalled for this task" if inside else f"not recalled for this task: {item.why_not}"
    text = "\n".join([f"{one_line(memory.title or memory.id)}: {said}", *explain(item)])
    return {"id": memory.id, "recalled": inside, "text": text}
