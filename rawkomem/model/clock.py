"""Time as milliseconds since 1970 in UTC; ISO 8601 in files."""

from __future__ import annotations

import os
import time

DAY = 86_400_000
AGES = {"h": DAY // 24, "d": DAY, "w": 7 * DAY}
DATE_CHARS = len("2026-01-23")


def now() -> int:
    """Return the current time; RAWKOMEM_NOW (ISO 8601) fixes it for reproducible runs."""
    fixed = os.environ.get("RAWKOMEM_NOW")
    if fixed:
        at, _ = read_time(fixed)
        if at is not None:
            return at
    return time.time_ns() // 1_000_000


def iso(at: int) -> str:
    """Return a time like `2026-01-23T10:30:00Z`, with milliseconds unless they are 0; "" for the unknown time 0."""
    if not at:
        return ""
    seconds, ms = divmod(at, 1000)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{stamp}.{ms:03d}Z" if ms else f"{stamp}Z"


def read_moment(text: str, end: bool = False) -> int | None:
    """Return the time of a date (with `end`, its end), a time or an age like `7d`; None for any other text."""
    text = text.strip()
    if text[:-1].isdecimal() and text[-1:] in AGES:
        return max(0, now() - int(text[:-1]) * AGES[text[-1]])
    at, _ = read_time(text)
    return at + DAY - 1 if at is not None and end and len(text) == DATE_CHARS and "-" in text else at


def read_time(text: str) -> tuple[int | None, str]:
    """Return the time that a text names, or None, and a remark about an unusual spelling or an error ("" if none)."""
    from datetime import UTC, datetime  # only while reading files: a cold search never parses a date

    text = text.strip()
    if text.isdecimal() and 10 <= len(text) <= 13:
        at = int(text) if len(text) > 11 else int(text) * 1000
        return at, "is a number: taken as time since 1970"
    odd = ""
    if ":60" in text:
        text, odd = text.replace(":60", ":59", 1), "has a leap second: taken as the second before"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None, "is not an ISO 8601 time"
    if moment.tzinfo is None:
        if len(text) > 10:
            odd = odd or "has no time zone: taken as UTC"
        moment = moment.replace(tzinfo=UTC)
    try:
        return int(moment.timestamp() * 1000), odd
    except (OverflowError, ValueError):
        return None, "is out of range"
