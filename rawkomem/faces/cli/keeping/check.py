"""Implement `rawkomem check`: report problems of memory files with line numbers and hints."""

from __future__ import annotations

from collections import Counter

import click

from ....files.check import NOT_IDEAL, Checked, check_files, printable
from ....files.read import QUARANTINE
from ....model.errors import BadInput
from ....model.problem import STYLE
from ....text.count import count
from ..memories.cite import tell_stale
from ..opening import open_repository
from ..options import JSON
from ..terminal import fields_of, note, paint, say, say_json
from .check_staged import amend_staged, staged_options, tell_staged

LEVEL_COLORS = {"error": "red", "warning": "yellow", "style": "dim"}


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(exists=False))
@JSON.but(help="Print JSON: one object for each file.")
@click.option("--style", is_flag=True, help="Also report memories that are shorter or longer than recommended.")
@click.option("--quiet", "-q", is_flag=True, help="Skip the content rules.")
@click.option("--stale", is_flag=True, help="Only list citations of code that changed or is gone.")
@click.option("--diff", "span", metavar="BASE...HEAD", default="", help="Only check the changes of a branch.")
@click.option("--format", "form", type=click.Choice(("text", "github", "json")), default="text",
              help="With --diff: text, annotations for GitHub Actions, or JSON.")  # fmt: skip
@staged_options
@click.pass_obj
def check_command(
    folder: str, /, paths: tuple[str, ...], as_json: bool, style: bool, quiet: bool, stale: bool, staged: bool,
    as_amendment: bool, span: str, form: str, **checks: bool,
) -> int:  # fmt: skip
    """Report problems in memory files.

    Without PATHS, the command checks every file of the repository. The exit code is 1 if a file cannot be used as a
    memory. With --stale, it is 1 if a memory cites code that changed or is gone. --staged checks the staged
    changes, for a pre-commit hook; --diff checks the changes of a branch. Both exit with 1 on errors.
    """
    if as_amendment:
        if not staged:
            raise BadInput("--as-amendment needs --staged", "run 'rawkomem check --staged --as-amendment'")
        return amend_staged(folder, as_json)
    if form != "text" and not span:
        raise BadInput("--format needs --diff", "run 'rawkomem check --json', or add --diff BASE...HEAD")
    if span:
        from .diff import tell_branch

        return tell_branch(folder, span, "json" if as_json else form, checks)
    if staged:
        return tell_staged(folder, checks, as_json)
    if stale:
        if paths:
            raise BadInput("--stale checks all memories and takes no PATHS", "run 'rawkomem check --stale'")
        return tell_stale(open_repository(folder).citations.all(), as_json)
    checked = check_files(paths) if paths else list(open_repository(folder).check())
    if as_json:
        say_json([_as_json(item) for item in checked])
    else:
        _print(checked, style, quiet)
    return 1 if any(item.verdict == QUARANTINE for item in checked) else 0


def _as_json(item: Checked) -> dict[str, object]:
    problems = [fields_of(problem, "line", "level", "code", "message", "hint") for problem in item.problems]
    told = {"titles": list(item.titles), "problems": problems}
    return {"file": printable(item.file), **fields_of(item, "verdict", "entries"), **told}


def _print(checked: list[Checked], style: bool, quiet: bool) -> None:
    told: Counter[str] = Counter()
    lengths = 0
    for item in checked:
        for problem in item.problems:
            if problem.level == STYLE and (quiet or (not style and problem.code == NOT_IDEAL)):
                lengths += not quiet
                continue
            told[problem.level] += 1
            level = paint(f"{problem.level:7}", LEVEL_COLORS[problem.level])
            hint = paint(f" ({problem.hint})", "dim") if problem.hint else ""
            say(f"{printable(item.file)}:{problem.line}: {level} {problem.message}{hint}")
    parts = [f"{number} {level}" if level == STYLE else count(number, level) for level, number in told.items()]
    parts += [f"{count(lengths, 'remark')} on length (--style shows them)"] if lengths else []
    note(f"{count(len(checked), 'file')}, {', '.join(parts) or 'no problems'}")
