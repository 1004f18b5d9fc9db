"""Implement `rawkomem init` and `rawkomem` without a command: look at a project, show a plan, ask before each step, and
suggest what to try next.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any

from click import Abort, Context, prompt

from ...exchange.import_plan import HELD_PROPOSED, ImportDecision, is_rule_kind
from ...exchange.sources import place_of
from ...files.installation import make_personal_folder, plan_start, write_start
from ...files.layout import FOLDER, Layout, find_layout, personal_root
from ...files.machine_records import note_of_changed_rules
from ...files.replace import is_below
from ...git.connection import Wanted, plan_git_connection
from ...git.runner import work_tree
from ...hosts import person
from ...hosts.connect import installed_hosts, plan_connect
from ...hosts.known_hosts import HOSTS
from ...index.status import UNCOMMITTED
from ...model.entries import Entry
from ...model.errors import NotFound, RawkoError, Refused
from ...model.filters import Filter
from ...model.values import ACTIVE, DRAFT_STATUS, record
from ...repository import Repository
from ...repository.core import Core
from ...repository.transfer import Import, preview_import
from ...state.fold import new_memory
from ...text.chunks import counted
from ...text.clean import one_line
from ...text.prose import scan_for_injection
from . import opening
from .answers import Fields
from .connecting import connect_command, connected_hosts, git_program
from .declarations import verb
from .importing import shown_path
from .opening import open_repository
from .options import DRY_RUN
from .showing import applies_line
from .syncing import with_bar
from .terminal import note, on_one_line, paint, say, say_in_pager, wide

MAX_PATH_CHARS = 200
MAX_PATHS_SHOWN = 3  # in a question; the plan lists all
WHAT_IT_IS = "rawkomem stores the memories of this project in .rawko, as Markdown files that you commit."
HOW_TO_UNDO = """\
To undo a step:
  rawkomem undo --list           the changes of memories, with the names that 'rawkomem undo' takes
  rawkomem connect NAME --remove an agent or git
  rawkomem uninstall             what rawkomem wrote, except your memories"""
FIRST_MEMORY = "'We chose X because …' --when 'choosing|changing X'"
ABOVE = "{} has a repository, which is also used here"
START_HERE = "for a separate one in this folder, run: rawkomem init --here"
CHANGED = "it is not what you were asked about: its file changed after the question"


@record
class GuideStep:
    """One step: what it does, its question, its action, the answer that Enter gives, and the texts in question."""

    what: str
    question: str
    run: Callable[[], None]
    default: bool = True
    texts: Sequence[Entry] = ()


class Guide:
    """A guided start in one project: `steps` is the plan, `run` asks for each step and carries it out."""

    def __init__(self, context: Context, imports: bool, connect: bool, here: bool):
        self.context = context
        self.here = here  # whether this folder gets a repository of its own
        self.imports = imports
        self.connect = connect
        self.command = (
            f"rawkomem -C {shlex.quote(context.obj)}" if context.obj else "rawkomem"
        )
        self.project = os.path.abspath(context.obj or ".")
        self.is_person = opening.arrival() == person.PERSON
        self.is_changed = False
        self.is_held_back = False  # imported memories that a person should read first
        self.connected: list[str] = []
        # what a team shares
        self.to_commit = [os.path.join(os.path.realpath(self.project), FOLDER)]
        self.is_elsewhere = bool(context.obj)
        context.obj = self.project  # the commands that a step runs work in this folder

    @cached_property
    def repository(self) -> Repository:
        """The repository, opened when the first step needs it."""
        return open_repository(self.project, layers=True)

    @property
    def is_started(self) -> bool:
        """Return whether the project has a repository of its own."""
        return project_above(self.project) == self.project

    def steps(self) -> list[GuideStep]:
        """Return the steps that have something to do."""
        steps = [*self._files()]
        if self.imports:
            steps += self._imports()
        if self.connect:
            steps += [*self._hosts(), *self._git()]
        return steps

    def run(self, steps: Sequence[GuideStep], yes: bool) -> bool:
        """Ask for each step and carry it out; report a step that fails, and continue with the next one.

        Return False if the user does not want a repository.
        """
        for number, step in enumerate(steps, 1):
            if number > 1 and not self.is_started:  # the first step writes the files
                return False
            number_of = paint(f"[{number}/{len(steps)}]", "cyan")
            question = f"{number_of} {on_one_line(step.question)}"
            try:
                if _answered(step, question, yes):
                    sys.stdout.flush()  # notes go to stderr
                    step.run()
                    self.is_changed = True
            except RawkoError as failure:
                note(f"this step failed: {failure.in_full}")
        return self.is_started

    def _files(self) -> Iterator[GuideStep]:
        above = project_above(self.project)
        missing = [
            file
            for file in plan_start(self.project)
            if not file.exists
            # an empty file only keeps a folder
            and (file.text or not os.path.isdir(os.path.dirname(file.path)))
        ]
        question = "Write these files?"
        if above and above != self.project:
            question = f"{ABOVE.format(shown_path(above))}. Start another one here?"
        names = ", ".join(shown_path(file.path) for file in missing)
        if missing:
            is_usual = self.here or above in ("", self.project)
            run = partial(write_start, missing)
            yield GuideStep(f"Write {names}", question, run, is_usual)

    def _imports(self) -> Iterator[GuideStep]:
        groups = _importable(
            self.project, self.repository.core if self.is_started else None
        )
        for item in chain(*groups):
            for place, why in item.skipped:
                note(f"{place} is left out: {why}")
        for sources in groups:
            if any(item.news for item in sources):
                yield self._import(sources)

    def _import(self, sources: Sequence[Import]) -> GuideStep:
        """Return the step that imports a group of sources. A person vouches in it for rules that people wrote for agents."""
        entries = [item.entry for source in sources for item in source.news]
        vouches = self.is_person and is_rule_kind(sources[0].kind)
        names = [
            one_line(shown_path(item.path), MAX_PATH_CHARS)
            for item in sources
            if item.decided
        ]
        where = ", ".join(names)
        listing = ""
        if len(names) > MAX_PATHS_SHOWN:
            where = f"{len(names)} files and folders"
            listing = "".join(f"\n     {name}" for name in names)
        what = f"Import {counted(len(entries), 'memory')} from {where}"
        if vouches:
            after = "agents get them, because you vouch for them"
        else:
            after = "they wait for a review"
        shown = [_said(entry) for entry in entries]

        def run() -> None:
            imports = with_bar(
                lambda progress: self.repository.exchange.import_all(
                    [item.path for item in sources],
                    progress=progress,
                    vouched=lambda one: (
                        vouches and _said(one) in shown and not _orders_in(one)
                    ),
                ),
                "importing",
            )
            self.repository.core.follow()
            news = [one for item in imports for one in item.news]
            say(f"  {counted(len(news), 'memory')} imported")
            if redacted := sum(one.redacted for one in news):
                say(f"  secrets and personal data redacted in {redacted} of them")
            if vouches:
                self._say_used(news)

        return GuideStep(
            f"{what}: {after}{listing}", f"{what}? ({after})", run, True, entries
        )

    def _say_used(self, news: Sequence[ImportDecision]) -> None:
        """Print how many imported memories are in use, and why others wait."""
        used = sum(not one.held for one in news)
        say(f"  {counted(used, 'memory')} in use")
        for one in news:
            if one.held and one.waits:
                title = one_line(one.entry.title, max(30, wide() - 40))
                say(f"  Held back: {title} ({one.entry.id})")
                why = _orders_in(one.entry)
                line = one_line(why, max(30, wide() - 25))
                reason = f"it may give orders: {line}" if why else CHANGED
                say(f"    {reason}")
                action = "--accept" if one.held == HELD_PROPOSED else "--activate"
                review = f"{self.command} review {one.entry.id} {action}"
                say(f"    to read and use it: {review}")
                self.is_held_back = True

    def _hosts(self) -> Iterator[GuideStep]:
        connected = connected_hosts(self.project)
        for name in installed_hosts():
            if name in connected:
                continue
            title = HOSTS[name].about.partition(":")[0]
            try:
                changes = plan_connect(name, self.project)
                paths = [one.path for one in changes if not one.is_none]
            except RawkoError:  # the step reports it
                paths = []
            files = " and ".join(map(shown_path, paths)) or "its settings"
            yield GuideStep(
                f"Connect {title}, so that each prompt gets the memories that fit it",
                f"Connect {title}? It writes {files}.",
                partial(self._connect, name, title, paths),
            )

    def _git(self) -> Iterator[GuideStep]:
        if not _is_in_git(self.project):
            note(
                "there is no git repository here; after 'git init', run 'rawkomem init' again"
            )
            return
        if self.is_started:
            layout = Layout(os.path.join(self.project, FOLDER))
            plan = plan_git_connection(layout, Wanted(git_program()))
            if not plan.files and not plan.settings:
                return
        what = "Connect git, so that it merges memories entry by entry and checks them before each commit"
        yield GuideStep(what, f"{what}?", partial(self._connect, "git"))

    def _connect(self, name: str, title: str = "", paths: Sequence[str] = ()) -> None:
        self.context.invoke(connect_command.commands[name])
        if title:
            self.connected.append(title)
        # git adds no file beyond a link, and hosts may share a file
        files = [os.path.realpath(one) for one in paths]
        below = os.path.realpath(self.project)
        self.to_commit += [
            file
            for file in files
            if is_below(file, below) and file not in self.to_commit
        ]

    def say_end(self) -> None:
        """Print how to undo the steps, and what to try next."""
        if self.is_changed:
            say(f"\n{HOW_TO_UNDO}")
        waiting = self.repository.beliefs.waiting()[::-1]
        kinds = Counter(place_of(memory.extra).partition(":")[0] for memory in waiting)
        used = self.repository.list(Filter(statuses=(ACTIVE,), current=True))
        say(f"\n{paint('Next:', 'bold')}")
        for kind, number in kinds.items():
            review = f"{self.command} review"
            if not self.is_held_back:
                review += f" --all-from {shlex.quote(kind)} --activate"
            say(f"  let agents use the imported memories ({number}): {review}")
        if self.is_changed and _is_in_git(self.project):
            say(f"  share with your team: {self._committing()}")
        if self.connected:
            say(f"  start {self.connected[0]} here and work as usual")
        if used:
            task = shlex.quote(used[0].title)
            say(f"  see what an agent gets for a task: {self.command} inject {task}")
        elif not waiting:
            say(f"  store your first memory: {self.command} add {FIRST_MEMORY}")

    def _committing(self) -> str:
        """Return the command that commits the files that a team shares."""
        tree = work_tree(self.project)
        ignored = {*tree.ignored(*map(tree.path, self.to_commit))}
        names = [
            os.path.relpath(one, os.path.realpath(self.project))
            for one in self.to_commit
            if tree.path(one) not in ignored
        ]
        place = f" -C {shlex.quote(self.project)}" if self.is_elsewhere else ""
        return f"git{place} add {shlex.join(names)} && git{place} commit"


def _importable(project: str, core: Core | None = None) -> list[list[Import]]:
    """Return what a project can import. In a large project this takes seconds, so say what happens."""
    note("looking for rules and memories to import")
    return preview_import(project, core)


def project_above(folder: str) -> str:
    """Return the project whose repository is used in a folder: the folder itself or one above it; empty if there is none."""
    try:
        return find_layout(folder).project
    except (NotFound, Refused):
        return ""


def _said(entry: Entry) -> tuple[object, ...]:
    """Return what a person is shown of an entry, to notice that a file changed after the question."""
    return (
        entry.title,
        entry.body,
        entry.when,
        entry.tags,
        entry.importance,
        entry.extra,
    )


def _orders_in(entry: Entry) -> str:
    """Return the first line or paragraph, condition or note that may give orders to agents; empty if there is none."""
    paragraphs = [" ".join(part.split()) for part in entry.body.split("\n\n")]
    notes = [value for value in entry.extra.values() if isinstance(value, str)]
    texts = entry.title, *entry.body.split("\n"), *paragraphs, *entry.when, *notes
    return next((text for text in texts if scan_for_injection(text).score), "")


def _text_of(entry: Entry) -> str:
    """Return all of an entry that agents can get."""
    acts = applies_line(new_memory(entry))
    moments = [f"when      {'; '.join(entry.when)}"] if entry.when else []
    moments += [f"applies   {acts}"] if acts else []
    return "\n".join(["", paint(entry.title, "bold"), *moments, entry.body, ""])


def _is_in_git(folder: str) -> bool:
    try:
        work_tree(folder)
    except NotFound:
        return False
    return True


def _answered(step: GuideStep, question: str, yes: bool) -> bool:
    """Ask at the terminal and return the answer; with `yes`, the default. `s` shows the texts in question."""
    if yes:
        say(f"{question} {'yes' if step.default else 'no'}")
        return step.default
    choices = ("Y/n" if step.default else "y/N") + ("/s" if step.texts else "")
    while True:
        person.discard_typed()
        reply = prompt(
            f"{question} [{choices}]", default="", show_default=False, prompt_suffix=" "
        )
        word = reply.strip().lower()
        if word in ("", "y", "yes", "n", "no"):
            return step.default if not word else word.startswith("y")
        if word not in ("s", "show"):
            say("Answer y for yes, n for no, s to see the texts.")
            continue
        say_in_pager("\n".join(map(_text_of, step.texts)))


@verb(
    "init",
    "--yes: Take the suggested answer to each question; do not ask.",
    DRY_RUN,
    "--no-import: Do not import instructions, rules and memories of other tools.",
    "--no-connect: Do not connect agent hosts and git.",
    "--personal: Start your personal repository; its memories are recalled in every project.",
    "--here: Start a repository of its own in this folder, although one above it has one.",
)
def init_command(
    ctx: Context,
    yes: bool,
    dry_run: bool,
    no_import: bool,
    no_connect: bool,
    personal: bool,
    here: bool,
) -> int:
    """Start a memory repository in this project.

    At a terminal, it shows a plan and asks before each step: write .rawko, import CLAUDE.md, AGENTS.md, rules and
    memories of other tools, connect git and the installed agent hosts. Run it again later to import and connect what
    is new. Without a terminal, it only writes the files in .rawko, unless you add --yes.

    Below a folder with a repository, that one is used. If a part of a project, such as a package, needs memories of its
    own, add --here: in that part, commands and hooks then use only these.

    Examples:
      rawkomem init
      rawkomem init --dry-run
      rawkomem init --personal
    """
    if personal or not (yes or person.arrival() == person.PERSON):
        _start_plain(ctx.obj, dry_run, personal, here)
        return 0
    guide = Guide(ctx, not no_import, not no_connect, here)
    guide.is_person = guide.is_person and not yes
    steps = guide.steps()
    say(
        f"{WHAT_IT_IS}\n\nThe plan:"
        if steps
        else "Nothing new was found to import or to connect."
    )
    for number, step in enumerate(steps, 1):
        say(f"  {number}. {step.what}")
    if dry_run:
        say("Nothing was written (--dry-run).")
        return 0
    if steps and not yes:
        say(
            "\nEnter takes the answer in capitals, s shows the texts. Ctrl-C stops; finished steps stay.\n"
        )
    try:
        if not guide.run(steps, yes):
            note(
                f"stopped: nothing was written ({START_HERE})"
                if project_above(guide.project)
                else "stopped: nothing was written"
            )
            return 1
    except (Abort, KeyboardInterrupt):
        say()
        note("stopped; run 'rawkomem init' again to continue")
        if guide.is_changed:
            guide.say_end()
        return 1
    guide.say_end()
    return 0


def _start_plain(folder: str, dry_run: bool, personal: bool, here: bool) -> None:
    """Write and list the files of a repository; name the files that an import would read.

    Raise Refused below another repository, unless `here` or `personal`.
    """
    place = os.path.dirname(personal_root()) if personal else folder or "."
    above = "" if personal or here else project_above(place)
    if above and above != os.path.abspath(place):
        raise Refused(ABOVE.format(shown_path(above)), START_HERE)
    steps = plan_start(place)
    for step in steps:
        say(f"{'exists' if step.exists else 'write '}  {step.path}")
    groups = [] if personal else _importable(os.path.abspath(place))
    for item in chain(*groups):
        if item.news:
            path = one_line(shown_path(item.path), MAX_PATH_CHARS)
            say(f"found   {path}; to import it: rawkomem import {shlex.quote(path)}")
    if dry_run:
        say("Nothing was written (--dry-run).")
        return
    if personal:
        make_personal_folder(place)
    write_start(steps)
    option = " --personal" if personal else ""
    say(f"Ready. Store a memory with: rawkomem add{option} {FIRST_MEMORY}")


# that `rawkomem import` reads
KNOWLEDGE_FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
NO_REPOSITORY = """\
There is no memory repository in this folder or in a folder above it.

  rawkomem init    start one here
  rawkomem demo    see what rawkomem does, in a temporary folder

'rawkomem --help' lists the commands."""


FACTS = Fields(
    "memories unusable drafts waiting hosts uncommitted rules problems",
    """\
memories  {memories:n memory} in {0.root}
{unusable:?files     % not usable: 'rawkomem check' names them|yellow}
{drafts:?drafts    % from your sessions}
{waiting:?review    % waiting for your decision}
agents    {hosts:?connected: %|~none connected}
{uncommitted:?git       % not committed}
{rules:?rules     %|yellow}
{problems_lines:text}""",
    problems=[Fields(line="problem   {0.in_full}")],
)


def show_overview(folder: str) -> None:
    """Print the state of the repository and the next useful step."""
    try:
        repository = open_repository(folder)
    except NotFound:
        say(NO_REPOSITORY)
        return
    layout = repository.layout
    authors = repository.core.authors()
    statuses = repository.core.read(lambda: repository.core.index.catalogue.counts()[2])
    paths = [os.path.join(layout.project, name) for name in KNOWLEDGE_FILES]
    files = [os.path.relpath(path) for path in paths if os.path.isfile(path)]
    files_left = repository.core.read(authors.uncommitted_files) if authors else set()
    status = repository.store.status()
    # a memory that was edited or removed is another file that is not committed
    held = {one.path for one in status.problems if one.code in UNCOMMITTED}
    files_left |= held
    state = {
        "root": os.path.relpath(layout.root),
        "memories": sum(row.status != DRAFT_STATUS for row in repository.list()),
        "unusable": counted(status.quarantined, "file") if status.quarantined else "",
        "drafts": len(repository.drafts.asked()),
        "waiting": statuses.get("quarantined", 0) + len(repository.beliefs.proposals()),
        "hosts": connected_hosts(layout.project),
        "uncommitted": counted(len(files_left), "memory file") if files_left else "",
        "rules": note_of_changed_rules(layout),
        "problems": [one for one in status.problems if one.code not in UNCOMMITTED],
    }
    FACTS.say(state, False)
    command, reason = next_step(state, files)
    say(f"\n{paint('next', 'green')}      {command}\n          {reason}")
    say("\n'rawkomem --help' lists the commands.")


def next_step(state: dict[str, Any], files: list[str]) -> tuple[str, str]:
    """Return the next useful command and what it does; `files` can be imported."""
    if state["unusable"]:
        return "rawkomem check", "Find out why these files are not used as memories."
    if state["waiting"]:
        return "rawkomem review", "Decide on changes and memories that wait for you."
    if state["drafts"]:
        return "rawkomem drafts", "Keep or drop the drafts from your sessions."
    if not state["memories"] and files:
        return (
            f"rawkomem import {shlex.quote(files[0])}",
            f"Import the content of {files[0]} as memories.",
        )
    if not state["memories"]:
        return (
            'rawkomem add "Run the tests with pnpm, never with npm."',
            "Store your first memory.",
        )
    if not state["hosts"]:
        return "rawkomem connect", "Let your coding agent read and store memories."
    if state["uncommitted"]:
        return (
            f"git add {shlex.quote(state['root'])}",
            "Then commit: your team gets the memories with the next pull.",
        )
    return (
        'rawkomem search "how do we run the tests"',
        "Find memories by words and by meaning.",
    )
