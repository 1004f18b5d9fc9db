"""Measure how long commands take while a store fails: the table in docs/postgres.md.

    .venv/bin/python tools/measure_faults.py postgres

Prints seconds of each command as a user waits for it, the fastest of three, with the faults of
tests/index/stores/faults.py. It needs root, for a small file system of its own.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.index.stores.faults import COMMANDS, FAULTS, Clone, Lance, Postgres
from tests.index.stores.postgres_server import start_server

TRIES = 3


def main() -> None:
    """Print one line for each fault, with the seconds of each command."""
    (name,) = sys.argv[1:]
    server = start_server()
    place = {"postgres": Postgres, "lancedb": Lance}[name](server)
    try:
        with tempfile.TemporaryDirectory() as folder:
            clone = Clone(Path(folder), name, place.url, is_in_process=False)
            print(f"| | {' | '.join(COMMANDS)} |\n|{'---|' * (len(COMMANDS) + 1)}")
            for what in FAULTS[type(place)]:
                cells = (
                    min(_seconds(place, clone, what, command, n) for n in range(TRIES))
                    for command in COMMANDS
                )
                print(f"| {what} |", *(f"{cell:.1f} |" for cell in cells), flush=True)
    finally:
        place.close()
        server.stop()


def _seconds(
    place: Postgres | Lance, clone: Clone, what: str, command: str, number: int
) -> float:
    """Return the seconds of a command during a fault; then let the clone catch up."""
    word = f"{what}-{command}-{number}"
    if command == "merge":
        clone.branch(word)
    with FAULTS[type(place)][what].start(place) as url:
        began = time.monotonic()
        COMMANDS[command](clone, word, {clone.url_variable: url})
        seconds = time.monotonic() - began
    clone.forget_failure()
    clone("index", "sync")
    return seconds


if __name__ == "__main__":
    main()
