"""Lines that this user wrote. The queue lies in the repository: one that came with a clone must not be sent."""

from __future__ import annotations

import hmac
import os

from ...files.layout import user_config
from ...files.lock import Lock
from ...model.errors import Unwritable
from .places import replace_file

KEY_BYTES = 32
MARK_LENGTH = 32  # hexadecimal digits: 128 bits


def own_key() -> bytes:
    """A random key beside the user's config, made when first needed."""
    file = os.path.join(os.path.dirname(user_config()), "sinks.key")
    try:
        with Lock(f"{file}.lock"):
            if not os.path.exists(file):
                replace_file(file, os.urandom(KEY_BYTES))
            with open(file, "rb") as stream:
                return stream.read()
    except OSError as failure:
        raise Unwritable(f"cannot keep {file}: {failure.strerror}", "check permissions and free space") from None


def sign(key: bytes, text: str) -> str:
    """The text with its mark in front."""
    return f"{_mark(key, text)} {text}"


def verified(key: bytes, line: str) -> str:
    """The text of a line that `sign` wrote; empty for any other line."""
    mark, _, text = line.partition(" ")
    return text if hmac.compare_digest(mark.encode(), _mark(key, text).encode()) else ""


def _mark(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), "sha256").hexdigest()[:MARK_LENGTH]
