"""Implement `rawkomem check` and `diff`: report problems in memory files, staged changes and branches."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from click import Path, argument, option

from ...files.check import NOT_IDEAL, Checked, check_files, printable
from ...files.git_folder import find_git
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
from ...git.citations import GONE, STALE, UNKNOWN, Cited
from ...git.commit_checks import (
    AMEND_HINT,
    CHECKS,
    DUPLICATES,
    SKIP_VARIABLE,
    CheckedCommit,
    check_commit,
    duplicate_problems,
)
from ...git.runner import user_name
from ...git.staged import Staged, staged_layouts
from ...hosts.person import known_agent
from ...model.entries import Memory
from ...model.errors import BadInput, NewerFormat, NotFound
from ...model.values import ERROR, STYLE, WARNING, Problem
from ...redaction.find import redact
from ...repository import Repository
from ...repository.acts import EXCEPTION, GUARD_CHECK, changed_guards, guard_problems
from ...repository.commits import (
    SETTINGS,
    SETTINGS_FILE,
    setting_changes,
    setting_problems,
)
from ...repository.settings import load_settings
from ...repository.settings_table import read_values
from ...state.history import FieldChange
from ...text.chunks import counted
from ...text.clean import one_line
from ...text.difference import compare, risks_in, value_text
from .answers import Fields
from .declarations import answer, verb
from .opening import open_repository
from .showing import CITATION
from .terminal import bracketed, note, say, say_json

# that a backslash escapes in Markdown
PUNCTUATION = frozenset("\\`*_{}[]()<>#+-.!|~&:\"'$^=/")
# level of a Problem → workflow command; others are notices
ANNOTATION_LEVELS = {ERROR: "error", WARNING: "warning"}
MAX_PLAIN_CHARS = 2_000  # of one text
MAX_ACCEPTED = (
    10  # titles of the changes of one kind by one author that a commit accepts
)
WHOLE = 10**9  # characters: a text is not cut


def plain(text: object, chars: int = MAX_PLAIN_CHARS) -> str:
    """Return a text on one line without secrets, control characters and workflow commands of GitHub."""
    return (
        one_line(redact(str(text), pii=False), chars)
        .replace("##[", "## [")
        .replace("::", ": :")
    )


def markdown_text(text: object, chars: int = MAX_PLAIN_CHARS) -> str:
    """Return a text on one line, escaped so that Markdown shows it without markup, links and mentions."""
    escaped = (
        f"\\{sign}" if sign in PUNCTUATION else sign for sign in plain(text, chars)
    )
    return "".join(escaped).replace("@", "@<!-- -->")


def annotation(name: str, problem: Problem) -> str:
    """Return a problem as a workflow command that annotates a line of a file."""
    level = ANNOTATION_LEVELS.get(problem.level, "notice")
    place = f"file={_escaped_property(problem.path)},line={max(1, problem.line)},title={_escaped_property(f'rawkomem: {name}')}"
    return f"::{level} {place}::{_escaped_data(f'{problem.message}. {problem.hint}' if problem.hint else problem.message)}"


def _escaped_data(text: str) -> str:
    """Redact a text and escape it for a workflow command; an unescaped line end could start another command."""
    visible = "".join(
        c if c.isprintable() or c in "\r\n" else ascii(c)[1:-1]
        for c in redact(text, pii=False)
    )
    return visible.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped_data(text).replace(":", "%3A").replace(",", "%2C")


DUPLICATE = Fields(
    "file line code message hint id? other?",
    "{file}:{line}: {label}: {message} ({hint})",
    label=lambda row: row["code"] if "id" in row else DUPLICATES,
)
SETTLED = Fields(
    "id=entry.about supersededBy=entry.extra.supersededBy",
    "superseded  {id} by {supersededBy}",
)


def answer_duplicates(repositories: Iterable[Repository], apply: bool) -> int:
    """Print exact duplicates of staged memories, and proposals. Return 1 if there is a duplicate or a written entry."""
    code = 0
    for repository in repositories:
        if _is_newer(repository, "nothing is checked"):
            continue
        brought = repository.edits.brought()
        if apply:
            written = repository.edits.settle(brought, user_name())
            answer(written, SETTLED)
            if written:
                root = os.path.relpath(repository.layout.root)
                note(f"review the entries, run 'git add {root}', and commit again")
                code = 1
            continue
        problems = duplicate_problems(brought)
        rows = [{**one.__dict__, "file": printable(one.path)} for one in problems]
        answer([*rows, *_proposal_rows(repository, brought)], DUPLICATE)
        if problems:
            note(
                f"{counted(len(problems), 'memory')} would be committed twice; --apply supersedes the new copies"
            )
            code = 1
    return code


def _proposal_rows(repository: Repository, brought: Any) -> Iterator[dict[str, Any]]:
    """Yield near duplicates and contradictions of staged memories."""
    for one in repository.edits.proposals(brought):
        yield {
            **one.__dict__,
            "file": printable(brought.staged.name(one.memory.path)),
            "line": one.memory.line,
            "id": one.memory.id,
            "other": one.other.id,
        }


CHECK_NAMES = (*CHECKS, DUPLICATES, GUARD_CHECK)  # of all checks of staged files
SECRETS = "secrets"  # the one check that does not depend on the format
PROBLEM = Fields(
    "check=0 file line=1.line level=1.level code=1.code message=1.message hint=1.hint",
    "{file}:{line}: {check:hue}: {text:2000}{advice:2000|? (%)|dim}",
    file=lambda pair: printable(pair[1].path),
    text=lambda pair: plain(pair[1].message),
    advice=lambda pair: plain(pair[1].hint) if pair[1].level == ERROR else "",
)


def _check_staged(folder: str, run: Mapping[str, bool]) -> int:
    """Check the staged changes, print the problems, and return 1 if one is an error, else 0."""
    skip = skipped_checks(run)
    agent = bool(known_agent())
    checked = [
        _check_repository(repository, skip, agent)
        for repository in staged_repositories(folder)
    ]
    problems = _answer_problems(checked)
    errors = [name for name, problem in problems if problem.level == ERROR]
    if any(one.hint == AMEND_HINT and one.level == WARNING for _, one in problems):
        note(AMEND_HINT)
    if errors:
        names = ", ".join(dict.fromkeys(errors))
        note(
            f"{counted(len(errors), 'error')} in staged files: {names} ('rawkomem docs git' explains the checks)"
        )
    return 1 if errors else 0


def _answer_problems(
    checked: Iterable[Mapping[str, Sequence[Problem]]], form: str = ""
) -> list[tuple[str, Problem]]:
    """Print the problems that the checks found; return each with the name of its check, without exceptions."""
    problems = [
        (name, one)
        for by_check in checked
        for name, some in by_check.items()
        for one in some
    ]
    if form == GITHUB_FORM:
        for name, problem in problems:
            say(annotation(name, problem))
    else:
        answer(problems, PROBLEM)
    left = [pair for pair in problems if pair[1].code != EXCEPTION]
    if exceptions := len(problems) - len(left):
        note(f"{counted(exceptions, 'exception')} to guards")
    return left


def _check_repository(
    repository: Repository, skip: Sequence[str], agent: bool
) -> dict[str, list[Problem]]:
    """Read git once and run all checks; print proposals about near duplicates and contradictions on stderr."""
    if _is_newer(repository, "only secrets are checked"):
        commit = CheckedCommit(repository.layout, Staged(repository.layout), {})
        return check_commit(commit, [*skip, *(set(CHECKS) - {SECRETS})])
    brought = repository.edits.brought()
    problems = repository.edits.check(skip, agent, brought.staged)
    try:  # these need the index
        if GUARD_CHECK not in skip:
            problems[GUARD_CHECK] = guard_problems(repository.core, brought.staged)
        if not agent and not repository.edits.is_agents_commit():
            _note_accepted(repository, brought.digests)
        if brought.memories and DUPLICATES not in skip:
            problems[DUPLICATES] = duplicate_problems(brought)
            for row in _proposal_rows(repository, brought):
                note(DUPLICATE.text(row))
    except Exception as failure:  # a hook must not stop commits because of this
        note(f"not all checks ran: {type(failure).__name__}: {failure}")
    return problems


def _is_newer(repository: Repository, effect: str) -> bool:
    """Return whether a newer rawkomem wrote the repository, and say so: a hook must not stop commits because of that."""
    try:
        _ = repository.settings
    except NewerFormat as failure:
        note(f"{failure.in_full}; {effect}")
        return True
    return False


def _note_accepted(repository: Repository, digests: Collection[str]) -> None:
    """Print which proposed changes a person's commit accepts: those that it adds. A merge does not add a branch's own."""
    titles: dict[str, list[str]] = {}
    for waiting in repository.beliefs.proposals():
        for entry in waiting.changes:
            if entry.digest in digests:
                origin = one_line(repository.beliefs.origin(entry), 200)
                title = one_line(waiting.memory.title, 60)
                titles.setdefault(f"{entry.kind} by {origin}", []).append(title)
    if titles:
        count = counted(sum(map(len, titles.values())), "proposed change")
        note(f"this commit accepts {count}:")
    for change, changed in titles.items():
        shown = ", ".join(f"'{title}'" for title in changed[:MAX_ACCEPTED])
        hidden = len(changed) - MAX_ACCEPTED
        more = f" and {hidden} more" if hidden > 0 else ""
        note(f"{change}: {shown}{more}")


def staged_repositories(folder: str) -> list[Repository]:
    """Return the repository of a folder; at the top of a git work tree, also the projects below that the commit changes.

    Without a repository in the folder or above it, return all projects of the work tree that the commit changes.
    """
    own = []
    try:
        own = [open_repository(folder)]
        git = find_git(own[0].layout.project)
        if git is None or git.tree != os.path.realpath(own[0].layout.project):
            return own
    except NotFound:
        pass
    layouts = staged_layouts(folder)
    # print nothing on a branch without memories
    if layouts is None and not own and not os.path.isdir(os.path.join(folder, FOLDER)):
        note("there is no memory repository here, so nothing was checked")
    roots = [os.path.realpath(one.layout.root) for one in own]
    below = [one for one in layouts or () if os.path.realpath(one.root) not in roots]
    return own + [open_repository(layout.root) for layout in below]


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


TEXT_FORM = "text"
GITHUB_FORM = "github"
MARKDOWN_FORM = "markdown"
MAX_TITLE_CHARS = 100
# before and after a heading, around a title, before a memory, its detail, and a line of a detail
TEXT_MARKS = ("", "", "", "  ", "      ", "        ")
MARKDOWN_MARKS = ("\n### ", "\n", "**", "- ", "  - ", "      - ")
# GitHub shows a summary of at most 1 MiB. Of a larger one, each text is cut to the next of these numbers of characters.
MAX_MARKDOWN_BYTES = 1_000_000
MARKDOWN_LIMITS = (0, 20_000, 2_000, 200)
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


DIFFERENCE = Fields(
    "what id=memory.id title=memory.title status=memory.status reason=memory.reason file changes text other",
    nothing="no memory changed",
    file=lambda item: printable(item.path),
    changes=[Fields("key=0 before=1 after=2")],
    text=lambda item: (
        {"before": item.before, "after": item.memory.body}
        if item.text_changed
        else None
    ),
    other=Fields("id title"),
)


@verb(
    "diff",
    "BASE...HEAD>span",
    "--format text|markdown =text >form: The output: text for a terminal, or Markdown for a pull request.",
    [DIFFERENCE],
)
def diff_command(folder: str, span: str, form: str, as_json: bool) -> None:
    """Show how a branch changes the memories.

    The command lists memories that were added, changed, superseded, contradicted, archived or deleted on HEAD since
    it branched from BASE. It reads only git objects. BASE alone means BASE...HEAD; BASE..HEAD compares with BASE
    itself.

    Examples:
      rawkomem diff HEAD...HEAD
      rawkomem diff HEAD --format markdown
    """
    differences: list[Difference] = []
    for branch in read_branches(folder, span):
        layout = _layout_of(branch)
        load_settings(layout, note)  # raises NewerFormat
        differences += differences_of(CheckedCommit(layout, branch, {}))
        if changes := setting_changes(branch):
            settings = Memory(id=SETTINGS_FILE, title="Settings of the project")
            path = branch.name(SETTINGS_FILE)
            differences.append(Difference(CHANGED, settings, path, tuple(changes)))
    if as_json:
        say_json(_redacted_data([DIFFERENCE.json(item) for item in differences]))
        return
    if not differences and form == TEXT_FORM:
        note("no memory changed")
    lines: list[str] = []
    for most in MARKDOWN_LIMITS if form == MARKDOWN_FORM else (0,):
        lines = [*_difference_lines(differences, form == MARKDOWN_FORM, most, span)]
        if sum(len(line.encode()) + 1 for line in lines) <= MAX_MARKDOWN_BYTES:
            break
    for line in lines:
        say(line)


def _check_span(folder: str, span: str, form: str, run: Mapping[str, bool]) -> int:
    """Check the changes of a branch, print the problems, and return 1 if there are errors, else 0."""
    skip = skipped_checks(run)
    checked = [_check_branch(branch, skip) for branch in read_branches(folder, span)]
    problems = _answer_problems(checked, form)
    if form == TEXT_FORM:
        note(f"{counted(len(problems), 'problem')} in what this branch changed")
    return 1 if any(map(has_errors, checked)) else 0


def _layout_of(branch: Branch) -> Layout:
    """Return the repository of a branch in the work tree."""
    return Layout(
        os.path.join(branch.span.top, *branch.name("").rstrip("/").split("/"))
    )


def _check_branch(branch: Branch, skip: Sequence[str]) -> dict[str, list[Problem]]:
    layout = _layout_of(branch)
    repository = Repository(layout)
    commit = CheckedCommit(layout, branch, repository.beliefs.predicates())
    # a branch cannot turn this off for its own review
    values, _ = read_values(branch.base_settings(), "config.yaml", repository=True)
    append_only = repository.settings.append_only or any(
        key == "appendOnly" and value is True for key, _, value in values
    )
    problems = check_branch(commit, skip, append_only, repository.settings.identities)
    problems[SETTINGS] = setting_problems(branch)
    if GUARD_CHECK not in skip:
        # a branch cannot take a guard away for its own review
        problems[GUARD_CHECK] = guard_problems(
            repository.core, branch, changed_guards(branch)
        )
    return problems


def _difference_lines(
    differences: Sequence[Difference], is_markdown: bool, most: int, span: str
) -> Iterator[str]:
    """Yield the differences by what happened, as text or as Markdown, in full or with `most` characters of a text."""
    show = markdown_text if is_markdown else plain
    head, end, bold, line, detail, inner = MARKDOWN_MARKS if is_markdown else TEXT_MARKS
    if is_markdown:
        yield "## Changes of the project's memories on this branch"
    if is_markdown and not differences:
        yield "\nNo memory changed."
    for kind in KINDS:
        items = [item for item in differences if item.what == kind]
        if items:
            yield f"{head}{HEADINGS[kind]} ({len(items)}){end}"
        for item in items:
            memory = item.memory
            title = show(memory.title or memory.id, MAX_TITLE_CHARS)
            mark = show(bracketed(memory.status)) if item.what == ADDED else ""
            yield f"{line}{bold}{title}{bold} {mark} {show(memory.id)}, {show(item.path)}"
            for key, text in _details(item):
                yield f"{detail}{show(key)}: {show(text)}"
            for key, old, new in _changed_values(item):
                texts = (redact(value_text(value), pii=False) for value in (old, new))
                lines = compare(*texts).lines(most, f"'rawkomem diff {span}' shows all")
                if len(lines) == 1:
                    text = f"{detail}{show(key)}: {show(lines[0], WHOLE)}"
                    yield text.rstrip()
                    continue
                yield f"{detail}{show(key)}:"
                yield from (
                    f"{inner}{show(text, WHOLE)}" for text in lines if text.strip()
                )


def _changed_values(item: Difference) -> Iterator[FieldChange]:
    """Yield (key, before, after) of the values and the text that a branch adds or changes."""
    title = item.memory.title  # of a new memory, the line above shows it
    is_shown = len(title) <= MAX_TITLE_CHARS and not risks_in(title)
    for change in item.changes if item.what in (ADDED, CHANGED, COUNTED) else ():
        if not (is_shown and item.what == ADDED and change[0] == "title"):
            yield change
    if item.text_changed:
        yield "text", item.before, item.memory.body


def _details(item: Difference) -> Iterator[tuple[str, str]]:
    """Yield (key, text) for the lines below a memory that name another memory or a reason."""
    memory = item.memory
    if item.what == "superseded":
        yield "by", _name_and_id(item.other) if item.other else memory.superseded_by
    if item.what == CONTRADICTED and item.other:
        yield "contradicts", _name_and_id(item.other)
    if memory.reason and item.what not in (ADDED, CHANGED, CONTRADICTED, COUNTED):
        yield "reason", memory.reason


def _name_and_id(memory: Memory) -> str:
    if memory.title:
        return f"{plain(memory.title, MAX_TITLE_CHARS)} ({memory.id})"
    return memory.id


def _redacted_data(value: Any) -> Any:
    """Return data with the secrets in its texts redacted."""
    if isinstance(value, str):
        return redact(value, pii=False)
    if isinstance(value, (list, tuple)):
        return [_redacted_data(item) for item in value]
    if isinstance(value, dict):
        return {key: _redacted_data(item) for key, item in value.items()}
    return value


DOUBTFUL = Fields(
    "id=memory.id file line=memory.line *cited",
    "{file}:{line}: " + str(CITATION.line),
    file=lambda item: printable(item["memory"].path),
    cited=CITATION,
)


def answer_stale(cited: Sequence[tuple[Memory, Sequence[Cited]]]) -> int:
    """Print the citations that are not fresh. Return 1 if one is stale or gone, else 0."""
    doubtful: list[dict[str, Any]] = [
        {"memory": memory, "cited": item}
        for memory, items in cited
        for item in items
        if item.state in (STALE, GONE, UNKNOWN)
    ]
    answer(doubtful, DOUBTFUL)
    counts = Counter(item["cited"].state for item in doubtful)
    states = ", ".join(f"{count} {state}" for state, count in counts.items())
    is_wrong = bool(counts[STALE] or counts[GONE])
    hint = "; correct the memory, or confirm it with 'rawkomem link cite ID PLACE'"
    number = sum(len(items) for _, items in cited)
    note(
        f"{counted(number, 'citation')}, {states or 'all fresh'}{hint if is_wrong else ''}"
    )
    return 1 if is_wrong else 0


FILE_PROBLEM = Fields(
    "file line=1.line level=1.level message=1.message hint=1.hint",
    "{file}:{line}: {level:<7} {message}{hint:? (%)|dim}",
    file=lambda pair: printable(pair[0]),
)
SEPARATED = Fields(
    "file=path title old new",
    "{file}: {title:80} now states the id {new} (its id was {old})",
)
CHECKED = Fields(
    "file verdict entries titles problems",
    file=lambda item: printable(item.file),
    problems=[Fields("line level code message hint")],
)


@verb(
    "check",
    argument("paths", nargs=-1, type=Path(exists=False)),
    "--style: Also report memories that are shorter or longer than recommended.",
    "--stale: Only list citations of code that changed or is gone.",
    "--diff BASE...HEAD >span: Only check the changes of a branch.",
    "--format text|github =text >form: With --diff: text, or annotations for GitHub Actions.",
    "--fix: Give each copied memory that has the id of another memory a new id.",
    "--staged: Only check changes staged in git; exit with 1 on errors.",
    *(
        option(
            f"--{name}/--no-{name}",
            default=True,
            help="With --staged or --diff: run this check, or skip it.",
        )
        for name in CHECK_NAMES
    ),
    [CHECKED],
    [PROBLEM],
    [DOUBTFUL],
    [SEPARATED],
)
def check_command(
    folder: str, paths: tuple[str, ...], as_json: bool, style: bool, stale: bool, fix: bool, staged: bool,
    span: str, form: str, **options: bool,
) -> int:  # fmt: skip
    """Report problems in memory files.

    Without PATHS, the command checks every file of the repository. The exit code is 1 if a file cannot be used as a
    memory. With --stale, it is 1 if a memory cites code that changed or is gone. --staged checks the staged
    changes, for a pre-commit hook; --diff checks the changes of a branch. Both exit with 1 on errors. With --fix, a
    memory file that you copied together with its id line gets an id of its own.

    Examples:
      rawkomem check
      rawkomem check --staged
      rawkomem check --stale
    """
    if form != TEXT_FORM and not span:
        raise BadInput(
            "--format needs --diff",
            "run 'rawkomem check --json', or add --diff BASE...HEAD",
        )
    if stale and paths:
        raise BadInput(
            "--stale checks all memories and takes no PATHS",
            "run 'rawkomem check --stale'",
        )
    if fix and (paths or staged or span or stale):
        raise BadInput(
            "--fix looks at the whole repository", "run 'rawkomem check --fix'"
        )
    if fix:
        separated = open_repository(folder).edits.separate_copies()
        if not separated:
            note("no memory has the id of another one")
        return answer(separated, SEPARATED)
    if span:
        return _check_span(folder, span, form, options)
    if staged:
        return _check_staged(folder, options)
    if stale:
        return answer_stale(open_repository(folder).citations.all())
    repository = None if paths else open_repository(folder)
    checked = list(repository.check()) if repository else check_files(paths)
    if as_json:
        answer(checked)
    else:
        _print_checked(checked, style)
        if repository and (rules := note_of_changed_rules(repository.layout)):
            note(rules)
    return 1 if any(item.verdict == QUARANTINE for item in checked) else 0


def _print_checked(checked: Sequence[Checked], style: bool) -> None:
    problems = [(item.file, problem) for item in checked for problem in item.problems]
    shown = [pair for pair in problems if style or pair[1].code != NOT_IDEAL]
    FILE_PROBLEM.say(shown, False)
    counts = Counter(problem.level for _, problem in shown)
    parts = [
        counted(number, f"{what} remark" if what == STYLE else what)
        for what, number in counts.items()
    ]
    if unshown := len(problems) - len(shown):
        parts += [f"{counted(unshown, 'remark')} on length (--style shows them)"]
    note(f"{counted(len(checked), 'file')}, {', '.join(parts) or 'no problems'}")
