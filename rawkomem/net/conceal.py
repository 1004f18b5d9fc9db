"""Shows a server's error text as one short line, without keys that it may repeat."""

from __future__ import annotations

import os
from urllib.parse import parse_qsl, unquote

from ..redaction.find import redact
from ..text.clean import one_line
from .failure import RequestFailed
from .url import Target

MAX_SHOWN_CHARACTERS = 200  # of a server's error text
MAX_READ_BYTES = 4 * MAX_SHOWN_CHARACTERS  # of a server's answer
MIN_SEGMENT_CHARACTERS = 16  # a part of a path of this length may be a key, as in many webhook URLs
MIN_VALUE_CHARACTERS = 4  # a value of a query of this length may be a key


def read_key(variable: str, setting: str) -> str:
    """Return the key in an environment variable; raise RequestFailed, naming the setting, if there is none.

    A name in lower case is not shown: it might be a key put in the wrong place.
    """
    if not variable:
        return ""
    shown = variable if variable.isupper() and variable.isidentifier() else f"that {setting} names"
    key = os.environ.get(variable, "").strip()
    if not key:
        hint = f"Export it with the key as its value; {setting} holds only the variable's name."
        raise RequestFailed(f"the environment variable {shown} is not set", hint)
    if not (key.isascii() and key.isprintable()):
        raise RequestFailed(f"the environment variable {shown} holds no usable key", "Copy the key again.")
    return key


def words_of(body: bytes, target: Target, key: str) -> str:
    """Return a server's error text, redacted."""
    text = body[:MAX_READ_BYTES].decode("utf-8", "replace")
    for secret in sorted(_secrets(target, key), key=len, reverse=True):
        text = text.replace(secret, "(key)")
    return one_line(redact(text), MAX_SHOWN_CHARACTERS)


def _secrets(target: Target, key: str) -> set[str]:
    path, _, query = target.path.partition("?")
    found = [key, *(part for part in path.split("/") if len(part) >= MIN_SEGMENT_CHARACTERS)]
    found += [value for _, value in parse_qsl(query) if len(value) >= MIN_VALUE_CHARACTERS]
    found += [value for item in query.split("&") if len(value := item.partition("=")[2]) >= MIN_VALUE_CHARACTERS]
    plain = {form for secret in found if secret for form in (secret, unquote(secret))}
    return plain | {secret.replace("/", "\\/") for secret in plain}  # as some servers write JSON
