"""One line for each thing that went wrong in a hook, in a local file that stays small: hosts show nothing of it."""

from __future__ import annotations

import os

from ...model.clock import iso, now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout

NAME = "hook.log"
LARGEST = 64 * 1024  # bytes; then the older half goes
LONGEST = 300  # characters of a line


def note(layout: Layout, host: str, event: str, message: str) -> None:
    """Append a line. Best effort: where even that fails, on whatever system, there is nobody left to tell."""
    try:
        from ...redaction.find import redact  # messages quote what they are about
        from ...text.clean import one_line

        said = one_line(redact(f"{host} {event}: {message}"), LONGEST)
        os.makedirs(layout.local, exist_ok=True)
        _append(os.path.join(layout.local, NAME), f"{iso(now())} {said}\n".encode("utf-8", "replace"))
    except Exception:
        pass


def _append(file: str, line: bytes) -> None:
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
    try:
        size = os.fstat(descriptor).st_size
        os.write(descriptor, line)
        kept = _newer(descriptor, size) if size > LARGEST else b""
    finally:
        os.close(descriptor)
    if kept:
        temporary = f"{file}.{os.getpid()}"
        with open(temporary, "wb") as stream:
            stream.write(kept.partition(b"\n")[2] + line)
        os.replace(temporary, file)


def _newer(descriptor: int, size: int) -> bytes:
    """What stands in the newer half; Windows has no `pread`."""
    os.lseek(descriptor, size - LARGEST // 2, os.SEEK_SET)
    return os.read(descriptor, LARGEST // 2)
