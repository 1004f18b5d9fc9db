"""Write docs/cli.md from the commands, and the table of filters in docs/recall.md; tests fail if they are outdated."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from rawkomem.faces.cli.commands import COMMANDS, cli
from rawkomem.faces.cli.options import ALIASES
from rawkomem.model.filters import FILTER_FIELDS, FilterField

DOCS = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
RECALL = DOCS.with_name("recall.md")
START, END = "<!-- filters: written by `make docs` -->\n", "<!-- end of filters -->\n"

HEAD = """\
# The command line

Generated from the commands by `make docs`; do not edit.

`rawkomem` (short: `rawko`) works on the `.rawko/` folder of the current folder or of one of its parents. To start in
another folder, pass `-C FOLDER` or set the environment variable `RAWKOMEM_DIR`. Data goes to stdout, remarks and errors
to stderr. Exit codes: 0 done, 1 failed or "no", 2 wrong usage. Colors appear on a terminal only, and never with
`NO_COLOR` or `TERM=dumb`.

Tab completion of commands, options, ids, tags, kinds, statuses and pages; zsh and fish show titles beside ids:

```sh
rawkomem completion bash --install     # or zsh, fish
rawkomem completion bash               # prints the script
```

Where a command takes an ID, you can type the whole id, its beginning, its end (4 characters or more), the name of the
file, or words of the title. If several memories fit, the error lists them.

At a terminal, long lists open in a pager: `$RAWKOMEM_PAGER`, else `$PAGER`, else `less -FRX`.
`RAWKOMEM_PAGER=cat` turns the pager off.

Most commands have some of these options, which the sections below do not repeat: `--json` prints data for programs
([json](json.md) lists the keys), `--limit N` or `-n N` is the maximum number of results, `--dry-run` prints what would
change and writes nothing, `--yes` asks no question, `--by NAME` and `--reason TEXT` are recorded with a change. The filters
of `search`, `list`, `inject`, `context`, `stats` and `export` are in [recall](recall.md). `rawkomem help COMMAND` explains a
command in full.
"""
# Options that mean the same everywhere; the head of the page explains them.
COMMON = ("as_json", "dry_run", "yes", "by", "reason", "limit")
FILTER_NAMES = {field.option.lstrip("-").replace("-", "_") for field in FILTER_FIELDS}
FILTER_HELP = {field.help for field in FILTER_FIELDS}

OTHER_NAMES = """\
These names of other tools and designs work, too.
"""


def write() -> str:
    """Return the whole page."""
    context = click.Context(cli, info_name="rawkomem", **cli.context_settings)
    overview = "\n".join(
        f"| [`{name}`](#rawkomem-{name}) | {text} |"
        for name, (_, text) in COMMANDS.items()
    )
    others = "\n".join(f"| `{name}` | `{path}` |" for name, path in ALIASES.items())
    parts = [HEAD, f"| command | what it does |\n|---|---|\n{overview}\n"]
    parts.append(f"{OTHER_NAMES}\n| name | command |\n|---|---|\n{others}\n")
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        parts.append(
            _section(command, click.Context(command, info_name=name, parent=context))
        )
    return "\n".join(parts)


def _section(
    command: click.Command, context: click.Context, told: frozenset[str] = frozenset()
) -> str:
    """Return a command: its usage, its summary, and one line for each option that is not `told`.

    The summary of a top-level command is in the table at the top; its section repeats it only if it has nothing else.
    A group tells the options that three or more of its commands have.
    """
    usage = " ".join(_arguments(command, context))
    summary = " ".join((command.help or "").partition("\n\n")[0].split())
    lines = "".join(f"- {line}\n" for line in _options(command) if line not in told)
    inner = command.commands if isinstance(command, click.Group) else {}
    times = Counter(line for one in inner.values() for line in _options(one))
    shared = [line for line, count in times.items() if count > 2]
    if shared:
        lines += (
            ("\n" if lines else "")
            + "Several of its commands take:\n\n"
            + "".join(f"- {line}\n" for line in shared)
        )
    above = (
        ""
        if context.command_path.count(" ") > 1
        else COMMANDS[context.info_name or ""][1]
    )
    rest = summary.removeprefix(above) if usage or lines or inner else summary
    first = ": ".join(part for part in (usage and f"`{usage}`", rest.strip()) if part)
    parts = [f"{first}\n" if first else "", lines]
    head = f"{'#' * (2 + context.command_path.count(' ', 9))} {context.command_path}\n"
    parts += [
        _section(
            one, click.Context(one, info_name=name, parent=context), frozenset(shared)
        )
        for name, one in inner.items()
    ]
    return "\n".join([head, *(part for part in parts if part)])


def _options(command: click.Command) -> list[str]:
    lines = [_option(one) for one in command.params if isinstance(one, click.Option)]
    return [line for line in lines if line]


def _arguments(command: click.Command, context: click.Context) -> list[str]:
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    return [one.make_metavar(context) for one in arguments]


def _option(option: click.Option) -> str:
    """Return an option as a line; empty if it is one of COMMON or a filter, which other places explain."""
    if option.name in COMMON or (
        option.name in FILTER_NAMES and option.help in FILTER_HELP
    ):
        return ""
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    return f"{names}: {' '.join((option.help or '').split())}"


def with_filters(page: str) -> str:
    """Return the page about recall with the current table of filters."""
    before, rest = page.split(START)
    rows = "".join(_row(field) for field in FILTER_FIELDS if field.help)
    head = "| option | in `filter_of` | in `Filter` | what it lets through | of several |\n|---|---|---|---|---|\n"
    return before + START + head + rows + END + rest.split(END)[1]


def _row(field: FilterField) -> str:
    short = f", `{field.short}`" if field.short else ""
    several = (
        f"{field.compare} them"
        if field.many and field.word != "include"
        else "adds each"
        if field.many
        else ""
    )
    case = " (in any case)" if field.any_case else ""
    help = field.help.replace("; may be repeated", "")
    return f"| `{field.option}`{short} | `{field.word}` | `{field.name}` | {help} | {several}{case} |\n"


if __name__ == "__main__":
    RECALL.write_text(
        with_filters(RECALL.read_text(encoding="utf-8")), encoding="utf-8"
    )
    DOCS.write_text(write(), encoding="utf-8")
