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

Most commands have some of these options, which the sections below do not repeat: `--json` prints data for programs
([json](json.md) lists the keys), `--limit N` or `-n N` is the maximum number of results, `--dry-run` prints what would
change and writes nothing, `--yes` asks no question, `--by NAME` and `--reason TEXT` are recorded with a change. The filters
of `search`, `list`, `inject`, `context`, `stats`, `export` and `trace episode capture` are in [recall](recall.md). An option with … may be repeated.
`rawkomem help COMMAND` explains a command in full.
"""
# Options that mean the same everywhere; the head of the page explains them.
COMMON = ("as_json", "dry_run", "yes", "by", "reason", "limit")
FILTER_NAMES = {field.option.lstrip("-").replace("-", "_") for field in FILTER_FIELDS}
FILTER_HELP = {field.help for field in FILTER_FIELDS}

REPEATED = "; may be repeated"
SHARED_OPTIONS = 10  # a command that has more options of an earlier command names them and links to it

OTHER_NAMES = (
    "These names of other tools and designs work, too, for the command in brackets: "
)


def write() -> str:
    """Return the whole page."""
    context = click.Context(cli, info_name="rawkomem", **cli.context_settings)
    sections = {name: _top_section(name, context) for name in COMMANDS}
    overview = "\n".join(
        f"| {f'[`{name}`](#{name})' if sections[name] else f'`{name}`'} | {text} |"
        for name, (_, text) in COMMANDS.items()
    )
    others = ", ".join(f"`{name}` (`{path}`)" for name, path in ALIASES.items())
    parts = [HEAD, f"| command | what it does |\n|---|---|\n{overview}\n"]
    parts.append(f"{OTHER_NAMES}{others}.\n")
    return "\n".join([*parts, *(section for section in sections.values() if section)])


def _top_section(name: str, context: click.Context) -> str:
    """Return the section of a top-level command; empty if the table at the top says all of it."""
    command = cli.get_command(context, name)
    assert command is not None
    own = click.Context(command, info_name=name, parent=context)
    lines = frozenset(_options(command))
    for earlier in tuple(COMMANDS)[: tuple(COMMANDS).index(name)]:
        other = cli.get_command(context, earlier)
        same = lines.intersection(_options(other)) if other else lines
        if len(same) > SHARED_OPTIONS:
            names = ", ".join(
                line.partition(": ")[0] for line in _options(command) if line in same
            )
            shared = f"options of [`{earlier}`](#{earlier}): {names}"
            return _section(command, own, same, shared)
    section = _section(command, own)
    return section if section.count("\n") > 1 else ""


def _section(
    command: click.Command,
    context: click.Context,
    told: frozenset[str] = frozenset(),
    first_line: str = "",
) -> str:
    """Return a command: its usage, its summary, and one line for each option that is not `told`.

    The summary of a top-level command is in the table at the top. A group has a line for each of its commands that has
    no options of its own, and a line for each option that three or more of its commands have.
    """
    path = context.command_path.removeprefix("rawkomem ")
    lines = [first_line] if first_line else []
    lines += [line for line in _options(command) if line not in told]
    inner = command.commands if isinstance(command, click.Group) else {}
    contexts = {
        name: click.Context(one, info_name=name, parent=context)
        for name, one in inner.items()
    }
    times = Counter(line for one in inner.values() for line in _options(one))
    shared = frozenset(line for line, count in times.items() if count > 2)
    short = [
        name
        for name, one in inner.items()
        if not isinstance(one, click.Group) and shared.issuperset(_options(one))
    ]
    for name in short:
        words = " ".join([name, *_arguments(inner[name], contexts[name])])
        lines.append(f"`{words}`: {_summary(inner[name])}")
    usage = " ".join(_arguments(command, context))
    summary = "" if path in COMMANDS else _summary(command)
    parts = [": ".join(part for part in (usage and f"`{usage}`", summary) if part)]
    parts.append("\n".join(f"- {line}" for line in lines))
    if shared:
        parts.append("Several of its commands take:")
        parts.append("\n".join(f"- {line}" for line in times if line in shared))
    head = f"{'#' * (2 + path.count(' '))} {path}"
    sections = [
        _section(one, contexts[name], shared)
        for name, one in inner.items()
        if name not in short
    ]
    told_here = "\n\n".join([head, *(part for part in parts if part)])
    return "\n".join([f"{told_here}\n", *sections])


def _summary(command: click.Command) -> str:
    return " ".join((command.help or "").partition("\n\n")[0].split())


def _options(command: click.Command) -> list[str]:
    """Return a line for each option; options with the same help share a line, and "…" says that one may be repeated."""
    names: dict[str, list[str]] = {}
    for option in command.params:
        if isinstance(option, click.Option) and (help := _help(option)):
            names.setdefault(help, []).extend(
                f"`{name}`" for name in (*option.opts, *option.secondary_opts)
            )
    return [
        f"{', '.join(several)}{' …' * (REPEATED in help)}: {help.replace(REPEATED, '')}"
        for help, several in names.items()
    ]


def _arguments(command: click.Command, context: click.Context) -> list[str]:
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    return [one.make_metavar(context) for one in arguments]


def _help(option: click.Option) -> str:
    """Return the help of an option; empty if it is one of COMMON or a filter, which other places explain."""
    if option.name in COMMON or (
        option.name in FILTER_NAMES and option.help in FILTER_HELP
    ):
        return ""
    return " ".join((option.help or "").split())


def with_filters(page: str) -> str:
    """Return the page about recall with the current table of filters."""
    before, rest = page.split(START)
    rows = "".join(_row(field) for field in FILTER_FIELDS if field.help)
    head = "| option | in `Filter` | what it lets through | of several |\n|---|---|---|---|\n"
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
    help = field.help.replace(REPEATED, "")
    assert field.word == field.option.lstrip("-").replace("-", "_")
    return f"| `{field.option}`{short} | `{field.name}` | {help} | {several}{case} |\n"


if __name__ == "__main__":
    RECALL.write_text(
        with_filters(RECALL.read_text(encoding="utf-8")), encoding="utf-8"
    )
    DOCS.write_text(write(), encoding="utf-8")
