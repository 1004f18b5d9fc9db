"""Log failures of hooks in `.rawko/local/hook.log`, because hosts do not show them."""

from __future__ import annotations

from ...files.local.private import LineFile, local_path
from ...model.clock import iso, now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout

LOG_FILE = "hook.log"
MAX_LOG_BYTES = 64 * 1024
MAX_LINE_CHARS = 300


def note(layout: Layout, host: str, event: str, message: str) -> None:
    """Append a line. A failure is ignored, because there is no other place to report it."""
    try:
        from ...redaction.find import redact  # messages may quote secrets
        from ...text.clean import one_line

        said = one_line(redact(f"{host} {event}: {message}"), MAX_LINE_CHARS)
        LineFile(local_path(layout, LOG_FILE), MAX_LOG_BYTES).append(f"{iso(now())} {said}")
    except Exception:
        pass
