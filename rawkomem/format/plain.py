"""Read a frontmatter of plain lines without a YAML parser, because most entries have nothing else.

It accepts only lines that every YAML reader reads alike: `key: text`, a quoted text without escapes, and `[a, b]`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .field import NULLS, Field

if TYPE_CHECKING:
    from ..model.entry import Value

MAX_CHARS = 4_000  # of a frontmatter: longer ones are rare, and the YAML reader checks their limits
ITEM = r"[A-Za-z0-9_/.$(](?:[A-Za-z0-9 _/.@+()$=%;!'*~^<>&-]*[A-Za-z0-9_/.@+()$=%;!'*~^<>&-])?"
TEXT = r"[A-Za-z0-9_/.$(](?:[A-Za-z0-9 _/.,@+()$=%;!?'*~^<>&-]|:(?=[A-Za-z0-9_/.+-]))*(?<! )"
QUOTED = r"""[ !#-[\]-~\u00a1-\u024f\u2010-\u2027]*"""
LINE = re.compile(rf"""([A-Za-z][A-Za-z0-9_]{{0,63}}): (?:({TEXT})|"({QUOTED})"|\[({ITEM}(?:, {ITEM})*)\])""")


def read_plain(text: str, line: int) -> dict[str, Field] | None:
    """Return the keys of a frontmatter whose first line is `line`; None if it has lines that are not plain."""
    if not text.endswith("\n") or len(text) > MAX_CHARS:
        return None
    fields: dict[str, Field] = {}
    for number, said in enumerate(text[:-1].split("\n"), line):
        match = LINE.fullmatch(said)
        if match is None or match[1] in fields:
            return None
        key, plain, quoted, items = match.groups()
        fields[key] = Field(_value(plain, quoted, items), number, plain is not None)
    return fields


def _value(plain: str | None, quoted: str | None, items: str | None) -> Value:
    if items is not None:
        return ["" if item in NULLS else item for item in items.split(", ")]
    return plain or quoted or ""
