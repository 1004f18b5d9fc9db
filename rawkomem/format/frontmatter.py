"""Keys and values of a frontmatter, the keys of LLMos that mean ours; read and write frontmatter, as
text that every YAML 1.2 reader reads alike. Plain lines are read with a regular expression, the
rest with a YAML parser; every scalar stays text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ..model.entries import NULLS, Entry, Field, Unreadable, Value
from ..model.values import (
    DEFAULT_IMPORTANCE,
    Problem,
    error,
    iso,
    replace,
    warning,
)

# kind → our key → the key of LLMos, in the order of LLMos files
LLMOS_KEYS = {
    "trace": {
        "id": "trace_id",
        "discoveredAt": "timestamp",
        "title": "goal",
        "discoveredBy": "agent",
    },
    "experience": {
        "id": "experience_id",
        "discoveredAt": "timestamp",
        "title": "primary_goal",
    },
}
SHORT_KEYS = {"discoveredAt": "at", "discoveredBy": "by"}  # other names of our keys
# key that only this kind has
LLMOS_MARKS = {"trace_id": "trace", "experience_id": "experience"}
# of a log entry, for people: two branches may use the same number
EXPERIENCE_NUMBER = "experience_number"
# keys with bare numbers
NUMBER_KEYS = ("duration_ms", "execution_time_ms", "files_created", EXPERIENCE_NUMBER)
# fields of an experience that hold prose
PROSE_KEYS = ("output_summary", "learnings_or_issues")


def with_native_keys(fields: Mapping[str, Field]) -> Mapping[str, Field]:
    """Return the fields of a trace or an experience with our keys instead of LLMos keys; others unchanged."""
    mark = next((key for key in LLMOS_MARKS if key in fields), "")
    if mark and "kind" not in fields:
        kind = replace(fields[mark], value=LLMOS_MARKS[mark], plain=True)
        fields = {"kind": kind, **fields}
    names = LLMOS_KEYS.get(str(fields["kind"].value), {}) if "kind" in fields else {}
    renamed = {
        theirs: ours
        for ours, theirs in names.items()
        if ours not in fields and SHORT_KEYS.get(ours) not in fields
    }
    return {renamed.get(key, key): field for key, field in fields.items()}


def with_prose_in_body(entry: Entry) -> Entry:
    """Append the prose fields of an experience to its body, so that a search finds them; return other entries as is."""
    if entry.kind != "experience":
        return entry
    parts = [
        str(entry.extra[key]).strip()
        for key in PROSE_KEYS
        if isinstance(entry.extra.get(key), str)
    ]
    missing = [part for part in parts if part and part not in entry.body]
    if missing:
        return replace(entry, body="\n\n".join([entry.body, *missing]).strip())
    return entry


def llmos_keys_of(entry: Entry) -> Mapping[str, str]:
    """Return our key → LLMos key for a trace or an experience; empty if another field already has such a key."""
    names = LLMOS_KEYS.get(entry.kind, {})
    if entry.id and not any(key in entry.extra for key in names.values()):
        return names
    return {}


# Read a frontmatter of plain lines without a YAML parser, because most entries have nothing else.
#
# It accepts only lines that every YAML reader reads alike: `key: text`, a quoted text without
# escapes, and `[a, b]`.

# of a frontmatter: longer ones are rare, and the YAML reader checks their limits
MAX_PLAIN_CHARS = 4_000
PLAIN_ITEM = r"[A-Za-z0-9_/.$(](?:[A-Za-z0-9 _/.@+()$=%;!'*~^<>&-]*[A-Za-z0-9_/.@+()$=%;!'*~^<>&-])?"
PLAIN_TEXT = r"[A-Za-z0-9_/.$(](?:[A-Za-z0-9 _/.,@+()$=%;!?'*~^<>&-]|:(?=[A-Za-z0-9_/.+-]))*(?<! )"
PLAIN_QUOTED = r"""[ !#-[\]-~\u00a1-\u024f\u2010-\u2027]*"""
PLAIN_LINE = re.compile(
    rf"""([A-Za-z][A-Za-z0-9_]{{0,63}}): (?:({PLAIN_TEXT})|"({PLAIN_QUOTED})"|\[({PLAIN_ITEM}(?:, {PLAIN_ITEM})*)\])"""
)


def read_plain(text: str, line: int) -> dict[str, Field] | None:
    """Return the keys of a frontmatter whose first line is `line`; None if it has lines that are not plain."""
    if not text.endswith("\n") or len(text) > MAX_PLAIN_CHARS:
        return None
    fields: dict[str, Field] = {}
    for number, row in enumerate(text[:-1].split("\n"), line):
        match = PLAIN_LINE.fullmatch(row)
        if match is None or match[1] in fields:
            return None
        key, plain, quoted, items = match.groups()
        value: Value = plain or quoted or ""
        if items is not None:
            value = ["" if item in NULLS else item for item in items.split(", ")]
        fields[key] = Field(value, number, plain is not None)
    return fields


# checked before parsing; longer texts belong in the body
MAX_FRONTMATTER_BYTES = 64 * 1024
# line breaks in YAML but not in editors
UNICODE_BREAKS = re.compile("[\u0085\u2028\u2029]")
# The ======= line in the middle is not searched for, because it also underlines headings.
CONFLICT_MARKER = re.compile(r"^(?:<{7}|\|{7}|>{7})(?: |$)", re.MULTILINE)


def read_frontmatter(
    text: str, line: int = 1
) -> tuple[dict[str, Field], list[Problem]]:
    """Return the top-level keys of a frontmatter whose first line is `line`, and its warnings. Raises Unreadable."""
    if (plain := read_plain(text, line)) is not None:
        return plain, []
    if len(text.encode("utf-8", "surrogatepass")) > MAX_FRONTMATTER_BYTES:
        message = "frontmatter is larger than 64 KiB"
        raise Unreadable(
            error("large-frontmatter", message, "move the text into the body", line)
        )
    conflict = CONFLICT_MARKER.search(text)
    if conflict:
        at = line + text.count("\n", 0, conflict.start())
        message = "merge conflict markers in the frontmatter"
        raise Unreadable(
            error("conflict-markers", message, "resolve the conflict, then save", at)
        )
    problems: list[Problem] = []
    if UNICODE_BREAKS.search(text):
        text = UNICODE_BREAKS.sub(" ", text)
        message = "Unicode line separator in the frontmatter: read as a space"
        problems.append(warning("line-separator", message, "remove it", line))
    # slow to import, and most entries have only plain lines
    from .yaml_mapping import read_yaml

    return read_yaml(text, line, problems), problems


PLAIN_SCALAR = re.compile(
    r"[A-Za-z0-9_/.$(][A-Za-z0-9 _/.,@+()$=%;!?'*~^<>&-]*(?::[A-Za-z0-9_/.+-][A-Za-z0-9_/.+-]*)*"
)
# Words that other YAML readers do not read as text.
RESERVED_WORDS = {*str.split("true false yes no on off y n null .inf .nan")}
NUMBER = re.compile(r"[0-9.+-][0-9a-fxo._:+-]*", re.IGNORECASE)
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)?")
FLOW_WIDTH = 100  # longer lists have one item per line, for better diffs
SPECIAL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def emit_entry(entry: Entry) -> str:
    """Return the entry as text for a file: frontmatter between `---` lines, a blank line, the body."""
    body = entry.body.strip("\n")
    head = f"---\n{emit_fields(_fields_of(entry))}---\n"
    return f"{head}\n{body}\n" if body else head


def emit_fields(fields: Mapping[str, Value]) -> str:
    """Return keys and values as YAML, one key per line."""
    return "".join(
        f"{_emit_scalar(key)}:{_emit_top_value(key, value)}"
        for key, value in fields.items()
    )


def _emit_top_value(key: str, value: Value) -> str:
    """Return a value as YAML; some keys hold bare numbers or several lines. Our reader reads both as text."""
    if isinstance(value, str):
        if key in NUMBER_KEYS and value.isascii() and value.isdecimal():
            return f" {value}\n"
        if (
            key in PROSE_KEYS
            and "\n" in value
            and value == value.strip()
            and not SPECIAL.search(value.replace("\n", ""))
        ):
            return " |2-\n" + "".join(
                f"  {line}\n" if line else "\n" for line in value.split("\n")
            )
    return _emit_value(value, "")


def _fields_of(entry: Entry) -> dict[str, Value]:
    create = entry.creates
    named: dict[str, Value] = {
        "id": entry.id,
        "kind": "" if entry.kind == "memory" else entry.kind,
        "about": entry.about,
        "title": " ".join(entry.title.split()),
        "whenToUse": list(entry.when),
        "tags": list(entry.tags),
        "importance": _importance(entry),
        "discoveredAt" if create else "at": iso(entry.at),
        "discoveredBy" if create else "by": entry.by,
        "discoveredIn": entry.found_in,
        "source": entry.source,
        "relatedMemories": list(entry.related),
    }
    foreign = llmos_keys_of(entry)
    if foreign:
        named = {
            **{theirs: named.pop(ours) for ours, theirs in foreign.items()},
            **named,
            "kind": "",
        }
    emptied = () if create else entry.given  # an amendment may make a list empty
    return {
        **{key: value for key, value in named.items() if value or key in emptied},
        **entry.extra,
    }


def _importance(entry: Entry) -> str:
    usual = entry.importance == DEFAULT_IMPORTANCE and "importance" not in entry.given
    if not usual or (entry.creates and not llmos_keys_of(entry)):
        return entry.importance
    return ""


def _emit_value(value: Value, indent: str) -> str:
    if isinstance(value, dict):
        if not value:
            return " {}\n"
        inner = indent + "  "
        return "\n" + "".join(
            f"{inner}{_emit_scalar(key)}:{_emit_value(item, inner)}"
            for key, item in value.items()
        )
    if isinstance(value, str):
        return f" {_emit_scalar(value)}\n"
    texts = [item for item in value if isinstance(item, str)]
    if len(texts) < len(value):
        return f" {_quoted(value)}\n"
    flow = f"[{', '.join(texts)}]"
    are_plain = all(_is_plain(text) and "," not in text for text in texts)
    if are_plain and len(flow) <= FLOW_WIDTH:
        return f" {flow}\n"
    return "\n" + "".join(f"{indent}  - {_emit_scalar(text)}\n" for text in texts)


def _is_plain(text: str) -> bool:
    if (
        text in NULLS
        or text.lower() in RESERVED_WORDS
        or text != text.strip()
        or len(text) > 1000
    ):
        return False
    return bool(DATE.fullmatch(text)) or (
        bool(PLAIN_SCALAR.fullmatch(text)) and not NUMBER.fullmatch(text)
    )


def _emit_scalar(text: str) -> str:
    if _is_plain(text):
        return text
    if "\\" in text and "'" not in text and not SPECIAL.search(text):
        return f"'{text}'"  # single quotes keep the backslashes of a pattern readable
    return _quoted(text)


def _quoted(value: Value) -> str:
    """Return a value on one line, with every text in quotes: JSON is YAML, but YAML escapes more characters."""
    text = json.dumps(value, ensure_ascii=False)
    return SPECIAL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
