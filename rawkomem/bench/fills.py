"""Records what filling a store cost, so that a later run of `bench scale --keep` only measures searches."""

from __future__ import annotations

import json
import os
from functools import cache

from ..model.record import as_dict, record

TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
POSTGRES_URL = "RAWKOMEM_POSTGRES_URL"


@record
class Fill:
    """The cost of one fill."""

    wall_s: float
    cpu_s: float
    passages: int
    load: float = 0.0  # of the machine in the last minute of the fill


class Fills:
    """The file `fills.json` of a folder: name of the data → store → Fill."""

    def __init__(self, folder: str):
        self._path = os.path.join(folder, "fills.json")
        self._known: dict[str, dict[str, dict[str, float]]] = {}
        if os.path.exists(self._path):
            with open(self._path, encoding="utf-8") as stream:
                self._known = json.load(stream)

    def get(self, what: str, store: str) -> Fill | None:
        """Return the cost of a finished fill; None if there was none."""
        found = self._known.get(what, {}).get(store)
        return Fill(**found) if found else None  # type: ignore[arg-type]

    def add(self, what: str, store: str, fill: Fill) -> None:
        """Record a finished fill."""
        self._known.setdefault(what, {})[store] = {**as_dict(fill), "load": os.getloadavg()[0]}
        with open(f"{self._path}.part", "w", encoding="utf-8") as stream:
            json.dump(self._known, stream, indent=1)
        os.replace(f"{self._path}.part", self._path)


def cpu_s(store: str) -> float:
    """Return the CPU time so far of this process, its children and, if it is on this machine, the store's server."""
    used = os.times()
    own = used.user + used.system + used.children_user + used.children_system
    return own + (_server_cpu_s() if store == "postgres" and os.environ.get(POSTGRES_URL) else 0.0)


def _server_cpu_s() -> float:
    """Return the CPU time of a server on this machine with all its processes, including finished ones."""
    server, total = _server(os.environ[POSTGRES_URL]), 0
    for name in filter(str.isdecimal, os.listdir("/proc")) if server else ():
        stat = _stat(int(name))
        if int(name) == server:
            total += sum(map(int, stat[11:15]))
        elif stat and int(stat[1]) == server:
            total += sum(map(int, stat[11:13]))
    return total / TICKS_PER_S


@cache
def _server(url: str) -> int:
    """Return the process id of the server's main process; 0 if it is on another machine."""
    import psycopg

    with psycopg.connect(url) as connection:
        stat = _stat(connection.info.backend_pid)
    return int(stat[1]) if stat else 0


def _stat(process: int) -> list[str]:
    """Return the fields of /proc/…/stat of a server's process, from its state on; none for another process."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as stream:
            _, _, told = stream.read().partition("(postgres) ")
    except OSError:
        return []
    return told.split()
