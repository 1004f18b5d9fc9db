"""Paces background work: it waits while others need the machine, or while that runs on battery."""

from __future__ import annotations

import os
import time
from math import exp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LOAD_SPAN_S = 60.0  # seconds that the system's load is an average of
MIN_FREE_CORES = 0.5  # cores that the work of others must leave free
MAX_WAIT_S = 600.0  # seconds: after that the process ends, and the next recall starts another one
TICK_S = 5.0  # seconds between two looks at the machine
POWER_SUPPLIES = "/sys/class/power_supply"
BUSY, BATTERY = "the machine is busy", "the machine runs on battery"


def system_load() -> float:
    """Return how many processes want a core, on average over a minute; 0 where the system does not say."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return 0.0


def on_battery(folder: str = POWER_SUPPLIES) -> bool:
    """Return whether a battery is being emptied; False where the system does not say."""
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(_said(folder, name, "type") == "Battery" and _is_emptied(folder, name) for name in names)


def _is_emptied(folder: str, name: str) -> bool:
    is_of_device = _said(folder, name, "scope") == "Device"  # a mouse's
    return not is_of_device and _said(folder, name, "status") == "Discharging"


def _said(folder: str, name: str, about: str) -> str:
    try:
        with open(os.path.join(folder, name, about), encoding="ascii", errors="replace") as file:
            return file.read(64).strip()
    except OSError:
        return ""


class Pace:
    """Says when one thread of work should wait. Its own share of the load is told from that of others."""

    def __init__(
        self,
        load: Callable[[], float] = system_load,
        battery: Callable[[], bool] = on_battery,
        cores: int = 0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self._load, self._battery, self._clock, self._sleep = load, battery, clock, sleep
        self._cores = cores or os.cpu_count() or 1
        self._own = 0.0  # what this process adds to the load
        self._at = clock()

    def why_wait(self, worked: bool = True) -> str:
        """Return why to wait now; empty to go on. `worked`: whether this process worked since it asked last."""
        now = self._clock()
        kept = exp(-(now - self._at) / LOAD_SPAN_S)
        self._own, self._at = self._own * kept + worked * (1 - kept), now
        if self._load() - self._own > self._cores - MIN_FREE_CORES:
            return BUSY
        return BATTERY if self._battery() else ""

    def wait(self, tick: Callable[[], None]) -> bool:
        """Wait until nothing speaks against working, calling `tick` meanwhile; return False after MAX_WAIT_S."""
        until = self._clock() + MAX_WAIT_S
        while self.why_wait(worked=False):
            if self._clock() >= until:
                return False
            tick()
            self._sleep(TICK_S)
        return True
