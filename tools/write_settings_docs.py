"""Write docs/settings.md from the table of settings; a test fails if the file is outdated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rawkomem.repository import settings_table

if TYPE_CHECKING:
    from rawkomem.repository.settings_table import SettingRow

DOCS = Path(__file__).resolve().parent.parent / "docs" / "settings.md"

HEAD = """\
# Settings

Generated from the table of settings by `make docs`; do not edit.

rawkomem works without any settings. Put settings for everybody who works on the project into `.rawko/config.yaml`:

```yaml
embedder: static
agents:
  developer: {maxInjected: 3, minImportance: medium, budget: 1500}
predicates:
  port: {conflictPolicy: require_review}
```

| file | use |
|---|---|
| `.rawko/config.yaml` | The repository's settings: committed, the same for everybody. `rawkomem init` writes one without any setting, only with the [version of the format](format.md#versions). |
| `~/.config/rawkomem/config.yaml` | Your own settings for all repositories. On macOS `~/Library/Application Support/rawkomem/`, on Windows `AppData\\Roaming\\rawkomem\\`; `XDG_CONFIG_HOME` moves it. |
| `~/.config/rawkomem/repositories/<path of .rawko>/config.yaml` | Your own settings for one repository: for `/home/ada/shop/.rawko` the file is in `repositories/home/ada/shop/.rawko/`. `rawkomem index store use` writes it. |

The last file in this table overrides the repository's file, which overrides your own file for all repositories. An
environment variable overrides all files. A dot in a key is a level of YAML: `store.name` is `store: {name: lancedb}`.

A repository cannot set anything that could do harm: a host, a key, a command, a folder, a store. If its file tries,
rawkomem prints a warning and ignores that line.

**A setting in `.rawko/config.yaml` counts once a person has committed it.** A changed file that is not committed, or that
an agent committed, changes nothing: the values of a person's last commit of the file count, and each command names the
setting with both values. To use an agent's setting, commit a change of the file yourself; `check --staged` then lists what
your commit accepts, and `check --diff` and `diff` list each setting that a branch changes. If no file of `.rawko` is
committed, or only agents commit there, the file itself counts. `format` always does.

A wrong value, an unknown key or a file that cannot be read never stops a command. rawkomem prints a warning with the
file, the line, the key and the allowed values, and uses the default; a hook writes the warning to
`.rawko/local/hook.log`. Two keys have a safer fallback than their default: `trust.maxUnverified` becomes 0,
`sinks.events` becomes empty.

## All keys

"both": in the repository's file and in yours; "you": in yours only.

| key | who | allowed | default | what it does |
|---|---|---|---|---|
"""

VARIABLES = """
## Environment variables

| variable | what it does |
|---|---|
| `RAWKOMEM_BACKGROUND` | `eager`: work in the background does not wait while the machine is busy. |
| `RAWKOMEM_DEBUG` | Any value: an error of the disk or of SQLite prints a traceback instead of one line. |
| `RAWKOMEM_DIR` | The folder where the search for `.rawko/` starts, instead of the current folder; `-C FOLDER` overrides it. |
| `RAWKOMEM_TRUST` | Projects of other users that you trust, as full paths; `*`: all. Without it, a `.rawko/` that belongs to another user is not used. |
| `RAWKOMEM_FOLLOW_LINKS` | `1`: `connect`, `export`, `import` and `skill export` may follow links that lead out of the project. |
| `RAWKOMEM_EMBEDDER` | The embedder; overrides every file. |
| `RAWKOMEM_STORE` | The search store; overrides every file. |
| `RAWKOMEM_LANGUAGE` | The language of the memories: `en` (default) or `de`. Conditions, topics and summaries follow it. [Contradictions](belief.md#contradictions-in-plain-sentences) do not need it: the language of each memory is recognized. Words are searched by English stems in every language. |
| `RAWKOMEM_LANCEDB_URL`, `RAWKOMEM_POSTGRES_URL` | The store's address; overrides `store.url` unless that is `env:NAME`. |
| `RAWKOMEM_MCP_TOKEN` | The token of `rawkomem mcp --http PORT`, instead of a new one ([MCP](mcp.md#http)). |
| `RAWKOMEM_SKIP` | An exception for one commit: see [git](git.md#exceptions). |
| `RAWKOMEM_NOW` | A fixed time (ISO 8601), for runs that can be repeated. |
| `RAWKOMEM_LEARNING` | rawkomem sets it for the model command that it runs: below that command, nothing is learned. |
| `_RAWKOMEM_COMPLETE` | Your shell sets it for completion ([the command line](cli.md)). |
| `XDG_CONFIG_HOME`, `XDG_CACHE_HOME` | The folders of your own config and of the caches. |
| `NO_COLOR` | No colors. |
"""


def write() -> str:
    """Return the whole page."""
    rows = "".join(_line(row) for row in settings_table.ROWS.values())
    return HEAD + rows + VARIABLES


def _line(row: SettingRow) -> str:
    key = f"`{row.key}`" + (f", or just `{row.short}`" if row.short else "")
    cells = (key, row.who, row.allowed, _shown(row.default), row.doc)
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n"


def _shown(default: Any) -> str:
    """Return a default as it is written in a file."""
    if isinstance(default, dict):
        return ", ".join(f"{key}: `{value}`" for key, value in default.items()) or "–"
    if isinstance(default, bool):
        return "`on`" if default else "`off`"
    if isinstance(default, tuple):
        return ", ".join(f"`{item}`" for item in default) or "–"
    return f"`{default}`" if default != "" else "–"


if __name__ == "__main__":
    DOCS.write_text(write(), encoding="utf-8")
