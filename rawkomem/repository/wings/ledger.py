"""The ledger of a repository, for faces: seal what waits, then look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.local.ledger import verify as check
from ...files.local.ledger.chain import rows
from ...files.local.ledger.latest import latest
from ...files.local.ledger.seal import seal
from ...model.errors import RawkoError

if TYPE_CHECKING:
    from ...files.local.ledger.chain import Row
    from ...files.local.ledger.verify import Verdict
    from .. import Repository

WAIT = 30.0  # seconds for another one that seals


def verify(repository: Repository) -> Verdict:
    """Whether the chain holds. Where it does not, nothing is written to it: what is broken stays as it was found."""
    verdict = check.verify(repository.layout)
    if verdict.problems:
        return verdict
    _seal(repository)
    return check.verify(repository.layout)


def blocks(repository: Repository, operation: str = "", name: str = "") -> list[Row]:
    """Blocks in order: of one operation or of all, and those whose id, or whose text, holds a name."""
    _seal(repository)
    return [
        row
        for row in rows(repository.layout)
        if operation in ("", row.operation_type) and (not name or row.id == name or name in row.yamo_text)
    ]


def asked(repository: Repository, most: int) -> list[tuple[int, str]]:
    """When and what was last asked of the memories, the latest first. Seals nothing: somebody is typing."""
    found = [(row.timestamp, _query(row.yamo_text)) for row in latest(repository.layout, "recall", most)]
    return [(at, question) for at, question in found if question]


def _query(text: str) -> str:
    line = next((line for line in text.split("\n") if line.startswith("  query;")), "")
    return line.removeprefix("  query;").removesuffix(";")


def _seal(repository: Repository) -> None:
    """On a disk that cannot be written, what waits is simply not shown."""
    try:
        seal(repository.layout, WAIT)
    except RawkoError as failure:
        repository.warn(failure.message)
