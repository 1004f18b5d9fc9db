"""Signs the lines of the queue, so that a queue that came with a clone is not sent."""

from __future__ import annotations

import hmac
import os

from ...files.layout import user_config
from ...files.local.private import open_private, replace_private
from ...files.lock import lock_in
from ...model.errors import Unwritable

KEY_BYTES = 32
MARK_CHARS = 32  # hexadecimal digits: 128 bits


def own_key() -> bytes:
    """Return the random key beside the user's config; create it on the first call."""
    folder = os.path.dirname(user_config())
    file = os.path.join(folder, "sinks.key")
    try:
        with lock_in(folder, "sink-key"):
            if not os.path.exists(file):
                replace_private(file, os.urandom(KEY_BYTES))
            with open_private(file, "r") as stream:
                return stream.read()
    except OSError as failure:
        raise Unwritable(f"cannot keep {file}: {failure.strerror}", "check permissions and free space") from None


def sign(key: bytes, text: str) -> str:
    """Return the text with its mark in front."""
    return f"{_mark(key, text)} {text}"


def verified(key: bytes, line: str) -> str:
    """Return the text of a line that `sign` wrote; empty for any other line."""
    mark, _, text = line.partition(" ")
    return text if hmac.compare_digest(mark.encode(), _mark(key, text).encode()) else ""


def _mark(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), "sha256").hexdigest()[:MARK_CHARS]
