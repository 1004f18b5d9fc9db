"""Write docs/json.md: the keys that each command with --json declares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rawkomem.faces.cli.answers import Fields
from rawkomem.faces.cli.commands import COMMANDS, cli
from rawkomem.faces.cli.terminal import JSON_SCHEMA_VERSION

DOCS = Path(__file__).resolve().parent.parent / "docs" / "json.md"
HEAD = f"""\
# JSON output

To read the output of a command in a program, add `--json`:

```sh
rawkomem list --json
rawkomem status --json
```

An object that a command prints starts with `"schema": {JSON_SCHEMA_VERSION}`, the version of the keys on this page. The version rises
when a key is renamed or removed, or when its meaning changes; it stays when a key is added. Items of a list have no
version of their own and follow the same one. Times are ISO 8601 in UTC. Until a
person has committed a memory, every memory counts as `vouched`. An error is one line on stderr, with an exit code other than 0.

`make docs` generates this page from the commands; do not edit it. A command with "(list)" prints a list of such
objects, the others print one object. Not every object has the keys in italics. A command in several rows prints the first
one, unless its options ask for another.

| command | keys |
|---|---|
"""


def write() -> str:
    """Return the whole page; commands with equal keys share a row."""
    rows: list[tuple[str, list[str]]] = []
    for path, command in sorted(commands_with_json(), key=lambda pair: pair[0]):
        after = 0  # the rows of a command keep the order in which it declares them
        for keys, is_list in dict.fromkeys(map(_printed, command.answers)):
            same = [
                number for number in range(after, len(rows)) if rows[number][0] == keys
            ]
            if not same:
                rows.append((keys, []))
            after = same[0] if same else len(rows) - 1
            rows[after][1].append(f"`{path}` (list)" if is_list else f"`{path}`")
    return HEAD + "".join(f"| {', '.join(paths)} | {keys} |\n" for keys, paths in rows)


def commands_with_json() -> Iterator[tuple[str, Any]]:
    """Yield every command that has the option --json, with its path."""
    for name in COMMANDS:
        yield from _with_json(name, cli.get_command(None, name))


def _with_json(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from _with_json(f"{path} {name}", inner)
    if any(parameter.name == "as_json" for parameter in command.params):
        yield path, command


def _printed(part: Fields | list[Fields]) -> tuple[str, bool]:
    """Return the keys of an answer as Markdown, without "schema", and whether the answer is a list."""
    fields = part[0] if isinstance(part, list) else part
    return ", ".join(shown_keys(fields)) or "texts", isinstance(part, list)


def shown_keys(fields: Fields) -> Iterator[str]:
    """Yield the keys of fields as Markdown; a key that may be missing in italics."""
    for key in fields.rows:
        inner = fields.parts.get(key[1:]) if key.startswith("*") else None
        if isinstance(inner, Fields):
            yield from shown_keys(inner)
        elif key.startswith("*"):
            yield f"*the keys of {key[1:]}*"
        else:
            yield f"*`{key}`*" if key in fields.optional else f"`{key}`"


if __name__ == "__main__":
    DOCS.write_text(write(), encoding="utf-8")
