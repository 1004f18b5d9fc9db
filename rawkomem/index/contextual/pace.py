"""Paces background work, which waits while other processes need the machine or while it runs on battery."""

from __future__ import annotations

import os
import time
from math import exp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LOAD_SPAN_S = 60.0  # the system's load is an average over this time
MIN_FREE_CORES = 0.5  # cores that other processes must leave free
MAX_WAIT_S = 600.0  # after this wait the process exits; the next recall starts a new one
TICK_S = 5.0  # time between two checks of load and battery
POWER_SUPPLIES = "/sys/class/power_supply"
BUSY, BATTERY = "the machine is busy", "the machine runs on battery"


def system_load() -> float:
    """Return how many processes want a core, on average over a minute; 0 where the system does not say."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return 0.0


def on_battery(folder: str = POWER_SUPPLIES) -> bool:
    """Return whether the machine runs on battery; False where the system does not say."""
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(_property(folder, name, "type") == "Battery" and _is_discharging(folder, name) for name in names)


def _is_discharging(folder: str, name: str) -> bool:
    is_of_device = _property(folder, name, "scope") == "Device"  # the battery of a mouse, for example
    return not is_of_device and _property(folder, name, "status") == "Discharging"


def _property(folder: str, name: str, about: str) -> str:
    try:
        with open(os.path.join(folder, name, about), encoding="ascii", errors="replace") as file:
            return file.read(64).strip()
    except OSError:
        return ""


class Pace:
    """Decides when a single-threaded process should wait. It subtracts the process's own share of the load."""

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
        """Return the reason to wait now, if any. `worked`: whether this process has worked since the last call."""
        now = self._clock()
        kept = exp(-(now - self._at) / LOAD_SPAN_S)
        self._own, self._at = self._own * kept + worked * (1 - kept), now
        if self._load() - self._own > self._cores - MIN_FREE_CORES:
            return BUSY
        return BATTERY if self._battery() else ""

    def wait(self, tick: Callable[[], None]) -> bool:
        """Wait until there is no reason to wait, and call `tick` every TICK_S; return False after MAX_WAIT_S."""
        until = self._clock() + MAX_WAIT_S
        while self.why_wait(worked=False):
            if self._clock() >= until:
                return False
            tick()
            self._sleep(TICK_S)
        return True
