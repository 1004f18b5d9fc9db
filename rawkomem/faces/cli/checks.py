"""Implement `rawkomem check` and `diff`: report problems in memory files, staged changes and branches."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from click import Choice, Path, argument, command, option, pass_obj

from ...files.check import NOT_IDEAL, Checked, check_files, printable
from ...files.layout import FOLDER, Layout
from ...files.machine_records import note_of_changed_rules
from ...files.reading import QUARANTINE
from ...git.branch import (
    ADDED,
    CHANGED,
    CONTRADICTED,
    COUNTED,
    KINDS,
    REMOVED,
    RESTORED,
    Branch,
    Difference,
    check_branch,
    differences_of,
    has_errors,
    read_branches,
)
from ...git.runner import user_name
from ...git.staged import (
    AMEND_HINT,
    CHECKS,
    DUPLICATES,
    SKIP_VARIABLE,
    AddedMemories,
    Commit,
    duplicate_problems,
    staged_layouts,
)
from ...hosts.person import known_agent
from ...model.entries import Memory
from ...model.errors import BadInput, NotFound
from ...model.values import ERROR, STYLE, WARNING, Problem
from ...redaction.find import redact
from ...repository import Repository
from ...repository.commits import CLAIM, StagedProposal
from ...repository.settings_table import read_values
from ...state.history import word_difference
from ...text.chunks import counted
from ...text.clean import one_line
from .declarations import flag
from .listing import tell_stale
from .opening import open_repository
from .options import JSON
from .terminal import (
    bracketed,
    done_line,
    fields_of,
    note,
    paint,
    say,
    say_answer,
    say_json,
)

# Escape texts of a repository, which are not trusted, for Markdown and for workflow commands of
# GitHub.

PUNCTUATION = frozenset("\\`*_{}[]()<>#+-.!|~&:\"'$^=/")  # that a backslash escapes in Markdown
ANNOTATION_LEVELS = {
    ERROR: "error",
    WARNING: "warning",
}  # level of a Problem → workflow command; others are notices
MAX_PLAIN_CHARS = 2_000  # of one text


def plain(text: object, chars: int = MAX_PLAIN_CHARS) -> str:
    """Return a text on one line without secrets, control characters and workflow commands of GitHub."""
    return one_line(redact(str(text), pii=False), chars).replace("##[", "## [").replace("::", ": :")


def markdown_text(text: object, chars: int = MAX_PLAIN_CHARS) -> str:
    """Return a text on one line, escaped so that Markdown shows it without markup, links and mentions."""
    escaped = (f"\\{sign}" if sign in PUNCTUATION else sign for sign in plain(text, chars))
    return "".join(escaped).replace("@", "@<!-- -->")


def annotation(name: str, problem: Problem) -> str:
    """Return a problem as a workflow command that annotates a line of a file."""
    level = ANNOTATION_LEVELS.get(problem.level, "notice")
    place = f"file={_escaped_property(problem.path)},line={max(1, problem.line)},title={_escaped_property(f'rawkomem: {name}')}"
    return f"::{level} {place}::{_escaped_data(f'{problem.message}. {problem.hint}' if problem.hint else problem.message)}"


def _escaped_data(text: str) -> str:
    """Redact a text and escape it for a workflow command; an unescaped line end could start another command."""
    visible = "".join(
        c if c.isprintable() or c in "\r\n" else ascii(c)[1:-1] for c in redact(text, pii=False)
    )
    return visible.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped_data(text).replace(":", "%3A").replace(",", "%2C")


# Implement `rawkomem tidy consolidate --staged`: find duplicates and contradictions of staged
# memories.


def tell_duplicates(found: Iterable[Repository], apply: bool, as_json: bool) -> int:
    """Print exact duplicates of staged memories, and proposals. Return 1 if there is a duplicate or a written entry."""
    return max([_tell_duplicates_of(repository, apply, as_json) for repository in found], default=0)


def _tell_duplicates_of(repository: Repository, apply: bool, as_json: bool) -> int:
    brought = repository.staging.brought()
    if apply:
        return _settle_duplicates(repository, brought, as_json)
    problems, proposals = duplicate_problems(brought), repository.staging.proposals(brought)
    say_answer(
        as_json,
        [
            *(
                {
                    "file": printable(problem.path),
                    **fields_of(problem, "line", "code", "message", "hint"),
                }
                for problem in problems
            ),
            *(_proposal_json(brought, one) for one in proposals),
        ],
        [
            *(
                f"{printable(problem.path)}:{problem.line}: {paint(DUPLICATES, 'red')}: {problem.message} ({problem.hint})"
                for problem in problems
            ),
            *(proposal_line(brought, one) for one in proposals),
        ],
    )
    if problems and not as_json:
        note(
            f"{counted(len(problems), 'memory')} would be committed twice; --apply supersedes the new copies"
        )
    return 1 if problems else 0


def _settle_duplicates(repository: Repository, brought: AddedMemories, as_json: bool) -> int:
    written = repository.staging.settle(brought, user_name())
    pairs = [(one.entry.about, one.entry.extra["supersededBy"]) for one in written]
    say_answer(
        as_json,
        [{"id": id, "supersededBy": newer} for id, newer in pairs],
        (f"{paint('superseded', 'yellow')}  {id} by {newer}" for id, newer in pairs),
    )
    if written and not as_json:
        root = os.path.relpath(repository.layout.root)
        note(
            f"{counted(len(written), 'entry')} written: review, run 'git add {root}', and commit again"
        )
    return 1 if written else 0


def note_proposals(repository: Repository, brought: AddedMemories) -> None:
    """Print proposals on stderr, except contradicting claims, which another check reports as errors."""
    for proposal in repository.staging.proposals(brought):
        if proposal.code != CLAIM:
            note(proposal_line(brought, proposal))


def proposal_line(brought: AddedMemories, proposal: StagedProposal) -> str:
    """Return a proposal as a line with its place."""
    place = f"{printable(brought.staged.name(proposal.memory.path))}:{proposal.memory.line}"
    return f"{place}: {paint(proposal.code, 'yellow')}: {proposal.message}. {paint(proposal.hint, 'dim')}"


def _proposal_json(brought: AddedMemories, proposal: StagedProposal) -> dict[str, object]:
    return {
        "file": printable(brought.staged.name(proposal.memory.path)),
        "line": proposal.memory.line,
        **fields_of(proposal, "code", "message", "hint"),
        "id": proposal.memory.id,
        "other": proposal.other.id,
    }


# Implement `rawkomem check --staged`: report problems in staged files, for a pre-commit hook.

CHECK_NAMES = (*CHECKS, DUPLICATES)  # of all checks of staged files


def staged_options(function: Any) -> Any:
    """Declare `--staged` and an option to skip each of its checks."""
    for name in reversed(CHECK_NAMES):
        where = "--staged" if name == DUPLICATES else "--staged or --diff"
        function = option(
            f"--{name}/--no-{name}", default=True, help=f"Run the check '{name}', with {where}."
        )(function)
    function = flag(
        "--as-amendment",
        help="With --staged: restore committed entries that you edited, append your edits as amendments, and stage both.",
    )(function)
    return flag("--staged", help="Only check changes staged in git; exit with 1 on errors.")(
        function
    )


def tell_staged(folder: str, looked_at: Mapping[str, bool], as_json: bool) -> int:
    """Check the staged changes, print the problems, and return 1 if one is an error, else 0. Ignores PATHS."""
    skip = skipped_checks(looked_at)
    agent = bool(known_agent())
    found = [
        _check_repository(repository, skip, agent) for repository in staged_repositories(folder)
    ]
    problems = _say_problems(found, as_json, _staged_line)
    errors = [name for name, problem in problems if problem.level == ERROR]
    if len(errors) < len(problems) and not as_json:
        note(AMEND_HINT)
    if errors and not as_json:
        names = ", ".join(dict.fromkeys(errors))
        note(
            f"{counted(len(errors), 'error')} in staged files: {names} ('rawkomem docs git' explains the checks)"
        )
    return 1 if errors else 0


def _say_problems(
    found: Iterable[Mapping[str, Sequence[Problem]]],
    as_json: bool,
    line: Callable[[str, Problem], str],
) -> list[tuple[str, Problem]]:
    """Print the problems that the checks found; return each with the name of its check."""
    problems = [(name, problem) for one in found for name, some in one.items() for problem in some]
    say_answer(
        as_json,
        [check_problem_json(name, problem) for name, problem in problems],
        (line(name, problem) for name, problem in problems),
    )
    return problems


def _staged_line(name: str, problem: Problem) -> str:
    style, hint = "yellow", ""
    if problem.level == ERROR:
        style, hint = "red", f" {paint(f'({problem.hint})', 'dim')}"
    return (
        f"{printable(problem.path)}:{problem.line}: {paint(name, style)}: {problem.message}{hint}"
    )


def amend_staged(folder: str, as_json: bool) -> int:
    """Turn edits of committed memories into amendments, print the result, and return 0."""
    for repository in staged_repositories(folder):
        done = repository.edits.as_amendments(user_name())
        if as_json:
            say_json(
                {
                    "edits": len(done.edits),
                    "entries": [
                        fields_of(item.entry, "id", "kind", "about", "path")
                        for item in done.written
                    ],
                    "copies": [*done.copies],
                }
            )
            continue
        for item in done.written:
            say(done_line("appended", f"{item.entry.kind} {item.entry.about}", item.entry.path))
        for copy in done.copies:
            note(f"your edited file is kept in .rawko/{copy}")
        note(
            "the committed text is restored; the result is staged"
            if done.edits
            else "no committed memory was edited"
        )
    return 0


def _check_repository(
    repository: Repository, skip: Sequence[str], agent: bool
) -> dict[str, list[Problem]]:
    """Read git once and run all checks; print proposals about near duplicates and contradictions on stderr."""
    brought = repository.staging.brought()
    found = repository.edits.check(skip, agent, brought.staged)
    if not agent and not repository.edits.is_agents_commit():
        _note_accepted(repository, brought.staged.changed())
    if DUPLICATES in skip:
        return found
    if brought.memories:
        found[DUPLICATES] = duplicate_problems(brought)
        note_proposals(repository, brought)
    return found


def _note_accepted(repository: Repository, paths: Sequence[str]) -> None:
    """Print which proposed changes a person's commit accepts."""
    waiting = [
        (one.memory, entry) for one in repository.beliefs.proposals() for entry in one.changes
    ]
    accepted = [
        f"{entry.kind} of '{one_line(memory.title, 60)}' by {one_line(entry.by, 40) or 'unknown'}"
        for memory, entry in waiting
        if entry.path in paths
    ]
    if accepted:
        changes = counted(len(accepted), "proposed change")
        note(f"this commit accepts {changes}: {'; '.join(accepted)}")


def staged_repositories(folder: str) -> list[Repository]:
    """Return the repository of a folder; without one, the staged repositories of the git work tree around it."""
    try:
        return [open_repository(folder)]
    except NotFound:
        found = staged_layouts(folder)
    if not found and not os.path.isdir(
        os.path.join(folder, FOLDER)
    ):  # print nothing on a branch without memories
        note("there is no memory repository here, so nothing was checked")
    return [open_repository(layout.root) for layout in found]


def skipped_checks(looked_at: Mapping[str, bool]) -> list[str]:
    """Return the checks that options or the environment skip; raise BadInput for an unknown name."""
    names = os.environ.get(SKIP_VARIABLE, "").replace(",", " ").split()
    unknown = [name for name in names if name not in CHECK_NAMES]
    if unknown:
        raise BadInput(
            f"{SKIP_VARIABLE} names unknown checks: {', '.join(unknown)}",
            f"the checks are {', '.join(CHECK_NAMES)}",
        )
    return [*(name for name in CHECK_NAMES if not looked_at[name]), *names]


def check_problem_json(name: str, problem: Problem) -> dict[str, object]:
    """Return a problem of a check for JSON."""
    return {
        "check": name,
        "file": printable(problem.path),
        **fields_of(problem, "line", "level", "code", "message", "hint"),
    }


# Implement `rawkomem diff` and `check --diff`: show and check how a branch changes memories.

TEXT_FORM, GITHUB_FORM, MARKDOWN_FORM, JSON_FORM = "text", "github", "markdown", "json"
MAX_TITLE_CHARS, MAX_VALUE_CHARS, MAX_BODY_CHARS = 100, 120, 300
HEADINGS = {
    ADDED: "Added",
    CHANGED: "Changed",
    "superseded": "Superseded",
    CONTRADICTED: "Contradicted",
    "archived": "Archived",
    "deleted": "Deleted",
    REMOVED: "Removed with their history",
    "quarantined": "Held for a review",
    "disputed": "Disputed",
    RESTORED: "In use again",
    COUNTED: "Voted on or confirmed",
}


@command("diff")
@argument("span", metavar="BASE...HEAD")
@option("--format", "form", type=Choice((TEXT_FORM, MARKDOWN_FORM, JSON_FORM)), default=TEXT_FORM, show_default=True,
              help="The output: text for a terminal, Markdown for a pull request, or JSON.")  # fmt: skip
@JSON.but(help="The same as --format json.")
@pass_obj
def diff_command(folder: str, /, span: str, form: str, as_json: bool) -> None:
    """Show how a branch changes the memories.

    The command lists memories that were added, changed, superseded, contradicted, archived or deleted on HEAD since
    it branched from BASE. It reads only git objects. BASE alone means BASE...HEAD; BASE..HEAD compares with BASE
    itself.

    Examples:
      rawkomem diff HEAD...HEAD
      rawkomem diff HEAD --format markdown
    """
    found = [
        item
        for branch in read_branches(folder, span)
        for item in differences_of(Commit(Layout(branch.span.top), branch, {}))
    ]
    if as_json or form == JSON_FORM:
        say_json([_difference_json(item) for item in found])
        return
    if not found and form == TEXT_FORM:
        note("no memory changed")
    for line in _markdown_lines(found) if form == MARKDOWN_FORM else _text_lines(found):
        say(line)


def tell_branch(folder: str, span: str, form: str, looked_at: Mapping[str, bool]) -> int:
    """Check the changes of a branch, print the problems, and return 1 if there are errors, else 0."""
    skip = skipped_checks(looked_at)
    found = [_check_branch(branch, skip) for branch in read_branches(folder, span)]
    line = annotation if form == GITHUB_FORM else _problem_line
    problems = _say_problems(found, form == JSON_FORM, line)
    if form == TEXT_FORM:
        note(f"{counted(len(problems), 'problem')} in what this branch changed")
    return 1 if any(map(has_errors, found)) else 0


def _check_branch(branch: Branch, skip: Sequence[str]) -> dict[str, list[Problem]]:
    layout = Layout(os.path.join(branch.span.top, *branch.name("").rstrip("/").split("/")))
    repository = Repository(layout)
    commit = Commit(layout, branch, repository.beliefs.predicates())
    # a branch cannot turn this off for its own review
    values, _ = read_values(branch.base_file("config.yaml"), "config.yaml", repository=True)
    append_only = repository.settings.append_only or any(
        key == "appendOnly" and value is True for key, _, value in values
    )
    return check_branch(commit, skip, append_only, repository.settings.identities)


def _problem_line(name: str, problem: Problem) -> str:
    style = "red" if problem.level == ERROR else "yellow"
    said = f"{plain(problem.message)} {paint(f'({plain(problem.hint)})', 'dim')}"
    return f"{plain(printable(problem.path))}:{problem.line}: {paint(name, style)}: {said}"


def _grouped(found: Sequence[Difference]) -> Iterator[tuple[str, list[Difference]]]:
    for kind in KINDS:
        items = [item for item in found if item.what == kind]
        if items:
            yield HEADINGS[kind], items


def _text_lines(found: Sequence[Difference]) -> Iterator[str]:
    for heading, items in _grouped(found):
        yield paint(f"{heading} ({len(items)})", "bold")
        for item in items:
            title = plain(item.memory.title or item.memory.id, MAX_TITLE_CHARS)
            yield f"  {title}{_status_mark(item)}  {paint(f'{plain(item.memory.id)}  {plain(item.path)}', 'dim')}"
            yield from (
                f"      {plain(key)}: {plain(said, MAX_BODY_CHARS * 2)}"
                for key, said in _details(item)
            )


def _markdown_lines(found: Sequence[Difference]) -> Iterator[str]:
    yield "## Changes of the project's memories on this branch"
    yield ""
    counts = [
        f"{len(items)} {heading[0].lower()}{heading[1:]}" for heading, items in _grouped(found)
    ]
    yield markdown_text(", ".join(counts)) if counts else "No memory changed."
    for heading, items in _grouped(found):
        yield from ("", f"### {heading} ({len(items)})", "")
        for item in items:
            title = markdown_text(item.memory.title or item.memory.id, MAX_TITLE_CHARS)
            yield f"- **{title}**{markdown_text(_status_mark(item))} {markdown_text(item.memory.id)}, {markdown_text(item.path)}"
            yield from (
                f"  - {markdown_text(key)}: {markdown_text(said, MAX_BODY_CHARS * 2)}"
                for key, said in _details(item)
            )


def _status_mark(item: Difference) -> str:
    return bracketed(item.memory.status) if item.what == ADDED else ""


def _details(item: Difference) -> Iterator[tuple[str, str]]:
    """Yield (key, text) for the lines below a memory."""
    memory = item.memory
    if item.what == ADDED:
        yield "text", plain(memory.body, MAX_BODY_CHARS)
    if item.what in (CHANGED, COUNTED):
        yield from (
            (key, f"{_value_text(old)} → {_value_text(new)}") for key, old, new in item.changes
        )
    if item.what == CHANGED and item.text_changed:
        yield "text", word_difference(item.before, memory.body)
    if item.what == "superseded":
        yield "by", _name_and_id(item.other) if item.other else memory.superseded_by
    if item.what == CONTRADICTED and item.other:
        yield "contradicts", _name_and_id(item.other)
    if memory.reason and item.what not in (ADDED, CHANGED, CONTRADICTED, COUNTED):
        yield "reason", plain(memory.reason, MAX_VALUE_CHARS)


def _name_and_id(memory: Memory) -> str:
    return f"{plain(memory.title, MAX_TITLE_CHARS)} ({memory.id})" if memory.title else memory.id


def _value_text(value: object) -> str:
    if isinstance(value, (list, tuple)):
        value = ", ".join(
            " ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in value
        )
    return plain(value, MAX_VALUE_CHARS) or "(none)"


def _difference_json(item: Difference) -> dict[str, Any]:
    memory = item.memory
    changes = [{"key": key, "before": old, "after": new} for key, old, new in item.changes]
    text = {"before": item.before, "after": memory.body} if item.text_changed else None
    whole: dict[str, Any] = _redacted_data(
        {
            "what": item.what,
            **fields_of(memory, "id", "title", "status", "reason"),
            "file": printable(item.path),
            "changes": changes,
            "text": text,
            "other": fields_of(item.other, "id", "title") if item.other else None,
        }
    )
    return whole


def _redacted_data(value: Any) -> Any:
    """Return data with the secrets in its texts redacted."""
    if isinstance(value, str):
        return redact(value, pii=False)
    if isinstance(value, (list, tuple)):
        return [_redacted_data(item) for item in value]
    return (
        {key: _redacted_data(item) for key, item in value.items()}
        if isinstance(value, dict)
        else value
    )


# Implement `rawkomem check`: report problems of memory files with line numbers and hints.

LEVEL_COLORS = {"error": "red", "warning": "yellow", "style": "dim"}


@command("check")
@argument("paths", nargs=-1, type=Path(exists=False))
@JSON.but(help="Print JSON: one object for each file.")
@flag(
    "--style",
    help="Also report memories that are shorter or longer than recommended.",
)
@flag("--quiet", "-q", help="Skip the content rules.")
@flag("--stale", help="Only list citations of code that changed or is gone.")
@option(
    "--diff", "span", metavar="BASE...HEAD", default="", help="Only check the changes of a branch."
)
@option("--format", "form", type=Choice(("text", "github", "json")), default="text",
              help="With --diff: text, annotations for GitHub Actions, or JSON.")  # fmt: skip
@staged_options
@pass_obj
def check_command(
    folder: str, /, paths: tuple[str, ...], as_json: bool, style: bool, quiet: bool, stale: bool, staged: bool,
    as_amendment: bool, span: str, form: str, **checks: bool,
) -> int:  # fmt: skip
    """Report problems in memory files.

    Without PATHS, the command checks every file of the repository. The exit code is 1 if a file cannot be used as a
    memory. With --stale, it is 1 if a memory cites code that changed or is gone. --staged checks the staged
    changes, for a pre-commit hook; --diff checks the changes of a branch. Both exit with 1 on errors.

    Examples:
      rawkomem check
      rawkomem check --staged
      rawkomem check --stale
    """
    if as_amendment:
        if not staged:
            raise BadInput(
                "--as-amendment needs --staged", "run 'rawkomem check --staged --as-amendment'"
            )
        return amend_staged(folder, as_json)
    if form != "text" and not span:
        raise BadInput(
            "--format needs --diff", "run 'rawkomem check --json', or add --diff BASE...HEAD"
        )
    if span:
        return tell_branch(folder, span, "json" if as_json else form, checks)
    if staged:
        return tell_staged(folder, checks, as_json)
    if stale:
        if paths:
            raise BadInput(
                "--stale checks all memories and takes no PATHS", "run 'rawkomem check --stale'"
            )
        return tell_stale(open_repository(folder).citations.all(), as_json)
    repository = None if paths else open_repository(folder)
    checked = list(repository.check()) if repository else check_files(paths)
    if as_json:
        say_json([_checked_json(item) for item in checked])
    else:
        _print_checked(checked, style, quiet)
        if repository and (rules := note_of_changed_rules(repository.layout)):
            note(rules)
    return 1 if any(item.verdict == QUARANTINE for item in checked) else 0


def _checked_json(item: Checked) -> dict[str, object]:
    return {
        "file": printable(item.file),
        **fields_of(item, "verdict", "entries"),
        "titles": list(item.titles),
        "problems": [
            fields_of(problem, "line", "level", "code", "message", "hint")
            for problem in item.problems
        ],
    }


def _print_checked(checked: list[Checked], style: bool, quiet: bool) -> None:
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
    parts = [
        f"{number} {level}" if level == STYLE else counted(number, level)
        for level, number in told.items()
    ]
    parts += [f"{counted(lengths, 'remark')} on length (--style shows them)"] if lengths else []
    note(f"{counted(len(checked), 'file')}, {', '.join(parts) or 'no problems'}")
