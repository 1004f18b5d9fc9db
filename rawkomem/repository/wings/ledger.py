"""The ledger: a tamper-evident log of writes and recalls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.local.ledger import verify as check
from ...files.local.ledger.chain import rows
from ...files.local.ledger.latest import latest
from ...files.local.ledger.seal import seal
from ...model.errors import RawkoError
from ..lazy import Wing

if TYPE_CHECKING:
    from ...files.local.ledger.chain import Row
    from ...files.local.ledger.verify import Verdict
    from ...format.yamo_chain import BlocksVerdict

SEAL_WAIT_S = 30.0  # for another process that seals the ledger


class Ledger(Wing):
    """Reads and verifies the ledger's chain, after sealing the waiting lines."""

    def verify(self) -> Verdict:
        """Return whether the chain is intact. Nothing is written to a broken chain."""
        verdict = check.verify(self._core.layout)
        if verdict.problems:
            return verdict
        self._seal()
        return check.verify(self._core.layout)

    def verify_database(self, folder: str) -> BlocksVerdict:
        """Verify the blocks in a LanceDB folder by the rule of RFC-0011; raise BadInput if there are none."""
        from ...exchange.yamo.database import BLOCKS, open_database
        from ...format.yamo_chain import verify_blocks

        return verify_blocks([*open_database(folder).rows(BLOCKS)])

    def blocks(self, operation: str = "", name: str = "") -> list[Row]:
        """Return blocks in order, of one operation or all; with a name, only blocks with this id or this text."""
        self._seal()
        return [
            row
            for row in rows(self._core.layout)
            if operation in ("", row.operation_type) and (not name or row.id == name or name in row.yamo_text)
        ]

    def asked(self, limit: int) -> list[tuple[int, str]]:
        """Return (time, question) of the last recalls, latest first. It does not seal, because a person is typing."""
        found = [(row.timestamp, _query(row.yamo_text)) for row in latest(self._core.layout, "recall", limit)]
        return [(at, question) for at, question in found if question]

    def _seal(self) -> None:
        """Seal the waiting lines; if that fails, warn."""
        try:
            seal(self._core.layout, SEAL_WAIT_S)
        except RawkoError as failure:
            self._core.warn(failure.message)


def _query(text: str) -> str:
    line = next((line for line in text.split("\n") if line.startswith("  query;")), "")
    return line.removeprefix("  query;").removesuffix(";")
